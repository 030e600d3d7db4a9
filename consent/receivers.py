"""What the rooms below tell and ask: what is done and answered then."""

from functools import partial
from typing import Any

from django.db import models, transaction
from django.db.models import QuerySet
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.hooks import staff_viewed
from accounts.models import User
from common.clock import database_now
from common.sql.statements import notify
from consent.approvals.actions import write_root_change, write_vault_state
from consent.audience import audience_of
from consent.decisions import withdrawals
from consent.decisions.models import AppReport, BlockedApp
from consent.decisions.vault_resets import lock_grants
from consent.event_types import EventType
from consent.grants.models import Grant
from consent.ledger import audit
from consent.notices.long_polling import hub
from consent.notices.outbox import CHANNEL, notify_of_processing
from consent.requests.actions import cancel_requests_of_app, cancel_requests_of_entry
from consent.requests.models import ConsentRequest
from consent.sandbox.models import SandboxPerson
from consent.states import Actor
from developers.apps.models import App
from developers.signals import Count, app_changed, apps_counted, processing_occurred, tokens_ended
from pkm.hooks import (
    Touched,
    domains_shown,
    entries_touched,
    entries_withdrawn,
    entry_changed,
    notes_written,
    root_changed,
    vault_ending,
)
from pkm.registry.models import ScopeEntry

domains_shown.connect(audience_of)
notes_written.connect(write_vault_state)
processing_occurred.connect(notify_of_processing)
root_changed.connect(write_root_change)
vault_ending.connect(lock_grants)


@receiver(entry_changed)
def cancel_pending_of_entry(*, entry_pk: int, by: User | None, **_: Any) -> None:
    """People decide on what was asked, or not at all."""
    cancel_requests_of_entry(entry_pk=entry_pk, by=by)


@receiver(entries_withdrawn)
def defer_to_worker(*, entry_pks: list[int], by: User, ends_grants: bool, **_: Any) -> None:
    """Thousands may wait: staff are answered at once, and a task cancels."""
    withdrawals.note_withdrawals(entry_pks=entry_pks, by=by, ends_grants=ends_grants)


@receiver(app_changed)
def cancel_pending_of_app(*, app_pk: int, by: User | None, **_: Any) -> None:
    """Who asks, and whether somebody checked that, is part of what people decide on."""
    cancel_requests_of_app(app_pk=app_pk, by=by)


@receiver(tokens_ended)
def end_streams(*, app_pk: int, **_: Any) -> None:
    """Streams that an ended token holds open end now, and not only with their next comment."""
    notify(CHANNEL, f"{app_pk} ")
    transaction.on_commit(partial(hub.wake_streams, app_pk))


@receiver(entries_touched)
def count_touched(*, entry_pks: list[int], **_ignored: Any) -> list[Touched]:
    """Requests that wait on these entries, and grants of these scopes that live; each counted by its index."""
    now = database_now()
    scopes = list(ScopeEntry.objects.filter(pk__in=entry_pks).values_list("scope", flat=True))
    pending = ConsentRequest.objects.pending(now).filter(scope_entry__in=entry_pks).count()
    live = Grant.objects.live(now).filter(scope__in=scopes).count()
    to_end = ngettext("Also end this %(count)d live grant", "Also end these %(count)d live grants", live)
    return [
        Touched(_("requests that wait for a decision"), pending),
        Touched(_("grants that are live"), live, to_end % {"count": live} if live else "", "consent.change_grant"),
    ]


@receiver(apps_counted)
def count_of_apps(*, app_pks: list[int], most: int, **_ignored: Any) -> list[Count]:
    """What staff see beside an app."""
    now, count = database_now(), partial(_by_app, app_pks=app_pks, most=most)
    # in the order of the index that begins with the app: else PostgreSQL may walk through everybody's, by when they end
    live = Grant.objects.live(now).order_by("user_id", "scope")
    pending = ConsentRequest.objects.pending(now).order_by("-pk")
    return [
        Count(_("live grants"), "consent/grant", count(live)),
        Count(_("requests that wait"), "consent/consentrequest", count(pending)),
        Count(_("reports"), "consent/appreport", count(AppReport.objects.order_by())),
        Count(_("people who block it"), "", count(BlockedApp.objects.order_by())),
        Count(_("sandbox people"), "consent/sandboxperson", count(SandboxPerson.objects.order_by())),
    ]


class _CountOf(models.Subquery):
    """How many rows a subquery has, which may end at so many."""

    template = "(SELECT count(*) FROM (%(subquery)s) counted)"
    output_field = models.IntegerField()


def _by_app(rows: QuerySet[Any], *, app_pks: list[int], most: int) -> dict[int, int]:
    """Each app's rows, counted no further than one beyond `most`."""
    some = rows.filter(app=models.OuterRef("pk")).values("pk")[: most + 1]
    counted = App.objects.filter(pk__in=app_pks).order_by().annotate(number=_CountOf(some))
    return dict(counted.values_list("pk", "number"))


@receiver(staff_viewed)
def record_staff_view(*, by: User, user_ids: list[str], what: str, path: str, **_: Any) -> None:
    """An entry in each person's chain, in the transaction that shows the page: statements for fifty as for one."""
    now, chains = database_now(), [audit.person_chain(user_id) for user_id in sorted(user_ids)]
    looked: dict[str, Any] = {
        "kind": EventType.STAFF_VIEWED.value,
        "actor": Actor.STAFF.value,
        "at": now,
        "facts": {"by": by.public_id, "what": what, "page": path},
    }
    if len(chains) == 1:  # by itself an entry takes six statements fewer
        audit.append(chain=chains[0], **looked)
        return
    # in the transaction that appends, too: who waits for such a name is another list of staff, which takes the same
    # chains in the same order and no app's
    audit.name_chains(chains)
    audit.append_all([audit.NewEntry(chain=chain, **looked) for chain in chains])
