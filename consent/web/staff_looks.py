"""Staff's looks as a person's history shows them: one line for each member and day, however many pages it was.

Each look stays an entry of the person's chain; this only adds them up for reading.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from django.apps import apps
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry

_AT_ONCE = 500


@dataclass
class DayOfLooks:
    """What one member of staff looked at on one day (UTC); `last_at` is their latest look."""

    last_at: datetime
    count: int = 0
    kinds: list[str] = field(default_factory=list)

    def detail(self) -> str:
        """How often, and at what."""
        words = capfirst(", ".join(sorted(map(_called, self.kinds))))
        looks = ngettext("%(n)d look that day.", "%(n)d looks that day.", self.count) % {"n": self.count}
        return f"{words}. {looks}"


def days_of_looks(user_id: str) -> Iterator[DayOfLooks]:
    """Newest first."""
    looks = AuditEntry.objects.of(audit.person_chain(user_id)).filter(kind=EventType.STAFF_VIEWED)
    newest = looks.select_related("kept").order_by("-sequence").iterator(chunk_size=_AT_ONCE)
    for _day, of_that_day in groupby(newest, key=lambda look: look.at.date()):
        yield from _by_member(of_that_day)


def _by_member(looks: Iterable[AuditEntry]) -> Iterator[DayOfLooks]:
    members: dict[str, DayOfLooks] = {}
    for look in looks:
        facts = look.facts
        seen = members.setdefault(facts.get("by", look.actor), DayOfLooks(look.at))  # older entries: in the actor
        seen.count += 1
        if facts.get("what", "") not in seen.kinds:
            seen.kinds.append(facts.get("what", ""))
    return iter(members.values())


def _called(model_name: str) -> str:
    """What a kind of record is called to the person it is about."""
    if model_name == "user":
        return gettext("your account")
    for model in apps.get_models():
        if model._meta.model_name == model_name:
            return str(model._meta.verbose_name_plural)
    return gettext("other records")
