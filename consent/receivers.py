"""What the rooms below tell: staff changed what waits to be decided, tokens ended, staff looked at somebody's rows."""

from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import QuerySet
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.signals import staff_viewed
from common.clock import database_now
from common.sql.statements import notify
from consent.decisions import withdrawals
from consent.decisions.models import AppReport, BlockedApp
from consent.event_types import EventType
from consent.grants.models import Grant
from consent.ledger import audit
from consent.notices.outbox import CHANNEL
from consent.notices.waiting import hub
from consent.requests.actions import cancel_requests_of
from consent.requests.models import ConsentRequest
from consent.sandbox.models import SandboxPerson
from consent.states import Actor
from developers.signals import Count, app_changed, apps_counted, tokens_ended
from pkm.registry.models import ScopeEntry
from pkm.signals import Touched, entries_touched, entries_withdrawn, entry_changed

if TYPE_CHECKING:
    from accounts.models import User


@receiver(entry_changed)
def cancel_what_waits_on_an_entry(*, entry_pk: int, by: "User | None", **_: Any) -> None:
    """People decide on what was asked, or not at all."""
    cancel_requests_of(entry_pk=entry_pk, by=by)


@receiver(entries_withdrawn)
def leave_the_rest_to_the_worker(*, entry_pks: list[int], by: "User", ends_grants: bool, **_: Any) -> None:
    """Thousands may wait: staff are answered at once, and a task cancels."""
    withdrawals.note_withdrawals(entry_pks=entry_pks, by=by, ends_grants=ends_grants)


@receiver(app_changed)
def cancel_what_waits_for_an_app(*, app_pk: int, by: "User | None", **_: Any) -> None:
    """Who asks, and whether somebody checked that, is part of what people decide on."""
    cancel_requests_of(app_pk=app_pk, by=by)


@receiver(tokens_ended)
def end_streams(*, app_pk: int, **_: Any) -> None:
    """Streams that an ended token holds open end now, and not only with their next comment."""
    notify(CHANNEL, f"{app_pk} ")
    transaction.on_commit(partial(hub.wake_streams, app_pk))


@receiver(entries_touched)
def count_what_a_change_touches(*, entry_pks: list[int], **_ignored: Any) -> list[Touched]:
    """Requests that wait on these entries, and grants of these scopes that live; each counted by its index."""
    now = database_now()
    scopes = list(ScopeEntry.objects.filter(pk__in=entry_pks).values_list("scope", flat=True))
    waiting = ConsentRequest.objects.pending(now).filter(scope_entry__in=entry_pks).count()
    live = Grant.objects.live(now).filter(scope__in=scopes).count()
    to_end = ngettext("Also end this %(count)d live grant", "Also end these %(count)d live grants", live)
    return [
        Touched(_("requests that wait for a decision"), waiting),
        Touched(_("grants that are live"), live, to_end % {"count": live} if live else "", "consent.change_grant"),
    ]


@receiver(apps_counted)
def count_of_apps(*, app_pks: list[int], **_ignored: Any) -> list[Count]:
    """What staff see beside an app."""
    now = database_now()
    return [
        Count(_("live grants"), "consent/grant", _by_app(Grant.objects.live(now), app_pks)),
        Count(_("requests that wait"), "consent/consentrequest", _by_app(ConsentRequest.objects.pending(now), app_pks)),
        Count(_("reports"), "consent/appreport", _by_app(AppReport.objects.all(), app_pks)),
        Count(_("people who block it"), "", _by_app(BlockedApp.objects.all(), app_pks)),
        Count(_("sandbox people"), "consent/sandboxperson", _by_app(SandboxPerson.objects.all(), app_pks)),
    ]


def _by_app(rows: QuerySet[Any], app_pks: list[int]) -> dict[int, int]:
    found = rows.filter(app__in=app_pks).order_by().values("app").annotate(count=models.Count("pk"))
    return {row["app"]: row["count"] for row in found}


@receiver(staff_viewed)
def note_that_staff_looked(*, by: "User", user_ids: list[str], what: str, path: str, **_: Any) -> None:
    """An entry in each person's chain, in the transaction that shows the page; in one order, against deadlocks."""
    now = database_now()
    for user_id in sorted(user_ids):
        audit.append(
            chain=audit.person_chain(user_id),
            kind=EventType.STAFF_VIEWED.value,
            actor=Actor.STAFF.value,
            at=now,
            facts={"by": by.public_id, "what": what, "page": path},
        )
