"""Staff's looks as a person's history shows them: one line for each member and day, however many pages it was.

Each look stays an entry of the person's chain; this only adds them up for reading.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from django.apps import apps
from django.db.models import Count, Min
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.web.history_filter import Chosen

_MOST_NAMES = 4  # kinds of records, of one day


@dataclass(frozen=True)
class DailyViews:
    """What one member of staff looked at on one day (UTC); `first` is the entry of their first look, `at` its time."""

    first: int
    at: datetime
    count: int
    kinds: frozenset[str]

    def detail(self) -> str:
        """How often, and at what."""
        names = sorted(map(_called, self.kinds))
        if len(names) > _MOST_NAMES:
            more = len(names) - _MOST_NAMES
            names[_MOST_NAMES:] = [ngettext("%(n)d more kind", "%(n)d more kinds", more) % {"n": more}]
        words = capfirst(", ".join(names))
        times = ngettext("%(n)d look that day.", "%(n)d looks that day.", self.count) % {"n": self.count}
        return f"{words}. {times}"


def daily_views(user_id: str, *, before: int | None, most: int, chosen: Chosen) -> list[DailyViews]:
    """Newest first, of those that began before this entry; two queries, one where there is none."""
    entries: Any = AuditEntry.objects.of(audit.person_chain(user_id)).filter(kind=EventType.STAFF_VIEWED)
    entries = chosen.within(entries, "at").annotate(
        day=TruncDate("at", tzinfo=UTC), member=KeyTextTransform("by", "kept__facts")
    )
    days = entries.values("day", "member").annotate(first=Min("sequence"), since=Min("at"), times=Count("pk"))
    if before is not None:
        days = days.filter(first__lt=before)
    some = list(days.order_by("-first")[:most])
    kinds = _kinds(entries, [one["day"] for one in some]) if some else {}
    return [
        DailyViews(one["first"], one["since"], one["times"], frozenset(kinds.get((one["day"], one["member"]), ())))
        for one in some
    ]


def _kinds(entries: Any, days: list[date]) -> dict[tuple[date, str], set[str]]:
    """The kinds of records that each member looked at on these days and those between."""
    begin = datetime.combine(min(days), time_of_day(), UTC)
    end = datetime.combine(max(days), time_of_day(), UTC) + timedelta(days=1)
    found: dict[tuple[date, str], set[str]] = {}
    between = entries.filter(at__gte=begin, at__lt=end).annotate(what=KeyTextTransform("what", "kept__facts"))
    for day, member, what in between.values_list("day", "member", "what").distinct():
        found.setdefault((day, member), set()).add(what or "")
    return found


def _called(model_name: str) -> str:
    """What a kind of record is called to the person it is about."""
    if model_name == "user":
        return gettext("your account")
    for model in apps.get_models():
        if model._meta.model_name == model_name:
            return str(model._meta.verbose_name_plural)
    return gettext("other records")
