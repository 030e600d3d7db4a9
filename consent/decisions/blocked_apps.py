"""What a person does about an app: block it, let it ask again, stop everything, report it."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from common.clock import database_now
from common.sql.statements import lock_for_transaction
from consent.connections.actions import disconnect, uncompleted
from consent.decisions.models import AppReport, BlockedApp
from consent.errors import UnknownApp
from consent.event_types import EventType
from consent.grants.actions import pause_all, revoke_all
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.entry_limit import count_own_entry
from consent.ledger.protection import append_or_defer, own_entry
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.states import LIVE_GRANTS, Actor, RequestStatus
from pkm.notes import write_notes
from pkm.web.schemas import NotesBody


def known_app_pk(app_id: str, by: User) -> int:
    """The app's key, where this person ever met it: nobody can ask here which apps exist. Raises `UnknownApp`."""
    requests = ConsentRequest.objects.filter(user=by)
    for met in (
        requests,
        by.known_to_apps.all(),
        by.discoveries.all(),
        by.directory_finds.all(),
        by.blocked_apps.all(),
    ):
        found = met.filter(app__app_id=app_id).values_list("app_id", flat=True).first()
        if found is not None:
            return int(found)
    raise UnknownApp


@dataclass(frozen=True)
class Ended:
    """What blocking ended: requests that waited, and grants where the person stopped sharing too."""

    requests: int
    grants: int


@transaction.atomic
def block_app(*, app_id: str, by: User, stop: bool, notes: NotesBody | None = None) -> Ended:
    """No more requests from this app; what waits is cancelled, and with `stop` all that it reads is revoked as well.

    `notes` are the vault's own, without those approvals: kept with all of it or not at all.
    """
    app_pk = known_app_pk(app_id, by)
    lock_for_transaction(f"ask:{app_pk}:{by.pk}")  # no request slips in between the block and the cancelling
    _, new = BlockedApp.objects.get_or_create(user=by, app_id=app_pk)
    now = database_now()
    pending = ConsentRequest.objects.filter(user=by, app_id=app_pk, status=RequestStatus.PENDING).order_by("pk")
    # all of them before the first is written down: the app may be cancelling the second one itself
    locked = list(pending.select_for_update().values_list("pk", flat=True))
    live = Grant.objects.filter(user=by, app_id=app_pk, status__in=LIVE_GRANTS).order_by("pk")
    # grants too are locked before any head is, and the vault between them
    if stop and list(live.select_for_update().values_list("pk", flat=True)) and notes is not None:
        write_notes(by=by, **notes.model_dump())
    cancelled = sum(
        close_request(request_pk=request_pk, to=RequestStatus.CANCELLED, actor=Actor.PERSON, at=now)
        for request_pk in locked
    )
    uncompleted(app_pk=app_pk, user=by).update(complete_by=now)  # the app is told of none
    stopped = revoke_all(app_pk=app_pk, by=by) if stop else 0
    if new:
        _note(by, EventType.APP_BLOCKED, app_id)
    return Ended(cancelled, stopped)


@transaction.atomic
def stop_app(*, app_id: str, by: User, notes: NotesBody | None = None) -> int:
    """Stop everything that this app can read, in one step; returns how many grants that ended."""
    return revoke_all(app_pk=known_app_pk(app_id, by), by=by, notes=notes)


def pause_app(*, app_id: str, by: User) -> int:
    """Pause everything that this app can read, in one step; returns how many grants that paused."""
    return pause_all(app_pk=known_app_pk(app_id, by), by=by)


def disconnect_app(*, app_id: str, by: User, notes: NotesBody | None = None) -> bool:
    """The app's name for this person names nobody any more, and all that it reads or waits for ends."""
    return disconnect(app_pk=known_app_pk(app_id, by), user=by, actor=Actor.PERSON, notes=notes)


@transaction.atomic
def unblock_app(*, app_id: str, by: User) -> None:
    """The app may ask again; repeated, nothing happens.

    Raises `AuditUnavailable`, since this takes a protection away, and `TooManyRequests`.
    """
    deleted, _ = BlockedApp.objects.filter(user=by, app_id=known_app_pk(app_id, by)).delete()
    if deleted:
        count_own_entry(by=by)
        audit.append(**own_entry(by, EventType.APP_UNBLOCKED, {"app_id": app_id}))


@transaction.atomic
def report_app(*, app_id: str, by: User, text: str) -> None:
    """Tell staff about an app; the app does not hear of it. Raises `TooManyRequests`."""
    AppReport.objects.create(user=by, app_id=known_app_pk(app_id, by), text=text)
    count_own_entry(by=by, is_report=True)
    _note(by, EventType.APP_REPORTED, app_id)


def _note(by: User, kind: EventType, app_id: str) -> None:
    append_or_defer(**own_entry(by, kind, {"app_id": app_id}), about=app_id)
