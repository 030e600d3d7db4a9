"""What a person does about an app: block it, let it ask again, report it; and keep a grant up to date or not."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from accounts.database import database_now, lock_for_transaction
from consent import audit
from consent.actions.ending import close_request, revoke_all
from consent.actions.protecting import append_or_hold
from consent.errors import MoveNotAllowed, UnknownApp, UnknownGrant
from consent.models import AppReport, BlockedApp, ConsentRequest, Grant, RefreshPolicy
from consent.states import LIVE_GRANTS, Actor, RequestStatus

if TYPE_CHECKING:
    from accounts.models import User


def met_app(app_id: str, by: "User") -> int:
    """The app's key, where this person ever met it: nobody can ask here which apps exist. Raises `UnknownApp`."""
    for met in (ConsentRequest.objects.filter(user=by), by.discoveries.all(), by.blocked_apps.all()):
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
def block_app(*, app_id: str, by: "User", stop: bool) -> Ended:
    """No more requests from this app; what waits is cancelled, and with `stop` all that it reads is revoked as well."""
    app_pk = met_app(app_id, by)
    lock_for_transaction(f"ask:{app_pk}:{by.pk}")  # no request slips in between the block and the cancelling
    _, new = BlockedApp.objects.get_or_create(user=by, app_id=app_pk)
    now = database_now()
    waiting = ConsentRequest.objects.filter(user=by, app_id=app_pk, status=RequestStatus.PENDING).order_by("pk")
    # all of them before the first is written down: the app may be cancelling the second one itself
    held = list(waiting.select_for_update().values_list("pk", flat=True))
    live = Grant.objects.filter(user=by, app_id=app_pk, status__in=LIVE_GRANTS).order_by("pk")
    if stop:  # grants too are locked before any head is
        list(live.select_for_update().values_list("pk", flat=True))
    cancelled = sum(
        close_request(request_pk=request_pk, to=RequestStatus.CANCELLED, actor=Actor.PERSON, at=now)
        for request_pk in held
    )
    stopped = revoke_all(app_pk=app_pk, by=by) if stop else 0
    if new:
        _note(by, "app_blocked", app_id)
    return Ended(cancelled, stopped)


@transaction.atomic
def stop_app(*, app_id: str, by: "User") -> int:
    """Stop everything that this app can read, in one step; returns how many grants that ended."""
    return revoke_all(app_pk=met_app(app_id, by), by=by)


@transaction.atomic
def unblock_app(*, app_id: str, by: "User") -> None:
    """The app may ask again; repeated, nothing happens. Raises `AuditUnavailable`: this takes a protection away."""
    deleted, _ = BlockedApp.objects.filter(user=by, app_id=met_app(app_id, by)).delete()
    if deleted:
        audit.append(**_entry(by, "app_unblocked", {"app_id": app_id}))


@transaction.atomic
def report_app(*, app_id: str, by: "User", text: str) -> None:
    """Tell staff about an app; the app does not hear of it."""
    AppReport.objects.create(user=by, app_id=met_app(app_id, by), text=text)
    _note(by, "app_reported", app_id)


@transaction.atomic
def keep_current(*, grant_id: str, by: "User", kept: bool) -> str:
    """Switch the re-sealing of a continuous grant on or off; returns the request's id."""
    grant = (
        Grant.objects.select_for_update(of=("self",))
        .select_related("request", "app")
        .filter(grant_id=grant_id, user=by)
    )
    found = grant.first()
    if found is None:
        raise UnknownGrant
    live = found.status in LIVE_GRANTS and found.expires_at > database_now()
    if not live or found.request.refresh_policy != RefreshPolicy.CONTINUOUS:
        raise MoveNotAllowed("Only a live approval of changing data is kept up to date.", grant_status=found.status)
    if found.kept_current != kept:
        Grant.objects.filter(pk=found.pk).update(kept_current=kept)
        facts = {
            "request_id": found.request.request_id,
            "grant_id": grant_id,
            "app_id": found.app.app_id,
            "kept": kept,
        }
        entry = _entry(by, "kept_current", facts)
        if kept:  # newer values are handed out; that they no longer are protects
            audit.append(**entry)
        else:
            append_or_hold(**entry, about=grant_id)
    return found.request.request_id


def _note(by: "User", kind: str, app_id: str) -> None:
    append_or_hold(**_entry(by, kind, {"app_id": app_id}), about=app_id)


def _entry(by: "User", kind: str, facts: dict[str, Any]) -> dict[str, Any]:
    """For the person's own chain alone: the app's would tell it."""
    return {
        "chain": audit.person_chain(by.public_id),
        "kind": kind,
        "actor": Actor.PERSON.value,
        "at": database_now(),
        "facts": facts,
    }
