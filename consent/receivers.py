"""What the rooms below tell: staff changed what waits to be decided, or looked at somebody's rows."""

from typing import TYPE_CHECKING, Any

from django.dispatch import receiver
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.signals import staff_viewed
from common.clock import database_now
from consent.event_types import EventType
from consent.grants.models import Grant
from consent.ledger import audit
from consent.requests.actions import cancel_requests_of
from consent.requests.models import ConsentRequest
from developers.signals import app_changed
from pkm.signals import entries_touched, entry_changed

if TYPE_CHECKING:
    from accounts.models import User


@receiver(entry_changed)
def cancel_what_waits_on_an_entry(*, entry_pk: int, by: "User | None", **_: Any) -> None:
    """People decide on what was asked, or not at all."""
    cancel_requests_of(entry_pk=entry_pk, by=by)


@receiver(app_changed)
def cancel_what_waits_for_an_app(*, app_pk: int, by: "User", **_: Any) -> None:
    """Who asks, and whether somebody checked that, is part of what people decide on."""
    cancel_requests_of(app_pk=app_pk, by=by)


@receiver(entries_touched)
def count_what_a_change_touches(*, entry_pks: list[int], **_ignored: Any) -> list[tuple[str | Promise, int]]:
    """Requests that wait on these entries, and grants that came of them and live."""
    now = database_now()
    waiting = ConsentRequest.objects.pending(now).filter(scope_entry__in=entry_pks)
    live = Grant.objects.live(now).filter(request__scope_entry__in=entry_pks)
    return [(_("requests that wait for a decision"), waiting.count()), (_("grants that are live"), live.count())]


@receiver(staff_viewed)
def note_that_staff_looked(*, by: "User", user_ids: list[str], what: str, path: str, **_: Any) -> None:
    """An entry in each person's chain, in the transaction that shows the page; in one order, against deadlocks."""
    now = database_now()
    for user_id in sorted(user_ids):
        audit.append(
            chain=audit.person_chain(user_id),
            kind=EventType.STAFF_VIEWED.value,
            actor=f"staff:{by.public_id}",
            at=now,
            facts={"what": what, "page": path},
        )
