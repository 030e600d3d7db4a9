"""Everything that ends something: cancel, expire, deny's sisters, and the ends of a grant."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F

from accounts.database import database_now
from consent import audit
from consent.actions.protecting import lock_heads
from consent.actions.recording import record
from consent.errors import MoveNotAllowed, UnknownGrant, UnknownRequest
from consent.models import ConsentRequest, Export, Grant
from consent.states import GRANT_MOVES, LIVE_GRANTS, Actor, GrantStatus, RequestStatus

if TYPE_CHECKING:
    from accounts.models import User

RELATED = ("app__application", "user", "scope_entry")


def close_request(
    *, request_pk: int, to: RequestStatus, actor: Actor, at: datetime, facts: dict[str, Any] | None = None
) -> bool:
    """Move a pending request to an end without a grant; False where somebody else decided first.

    Must run inside a transaction. Expiry is only ever written where the deadline has passed, everything else only
    where it has not: both are in the compare-and-set, so the clock cannot make two of them true. An expiry is dated by
    its deadline, as every reader was told it before it was written down.
    """
    waiting = ConsentRequest.objects.filter(pk=request_pk, status=RequestStatus.PENDING)
    waiting = waiting.filter(expires_at__lte=at) if to is RequestStatus.EXPIRED else waiting.filter(expires_at__gt=at)
    decided_at = F("expires_at") if to is RequestStatus.EXPIRED else at
    if not waiting.update(status=to, decided_at=decided_at, decided_by=actor):
        return False
    request = ConsentRequest.objects.select_related(*RELATED).get(pk=request_pk)
    record(
        request=request,
        grant=None,
        event=to.value,
        actor=actor,
        at=at,
        facts=facts or {},
        happened=request.expires_at if to is RequestStatus.EXPIRED else at,
    )
    return True


def end_grant(
    *, grant_pk: int, to: GrantStatus, actor: Actor, at: datetime, reason: str = "", only_expired: bool = False
) -> bool:
    """Move a live grant to an end and delete its ciphertext; False where it was not live. Inside a transaction."""
    sources = [old for old, news in GRANT_MOVES.items() if to in news]
    live = Grant.objects.filter(pk=grant_pk, status__in=sources)
    if only_expired:
        live = live.filter(expires_at__lte=at)
    ended_at = F("expires_at") if to is GrantStatus.EXPIRED else at
    if not live.update(status=to, ended_at=ended_at, ended_by=actor, end_reason=reason):
        return False
    Export.objects.filter(grant_id=grant_pk).update(ciphertext=None)
    grant = Grant.objects.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant_pk)
    record(
        request=grant.request,
        grant=grant,
        event=to.value,
        actor=actor,
        at=at,
        facts={"reads": grant.reads, "reason": reason} if reason else {"reads": grant.reads},
        happened=grant.expires_at if to is GrantStatus.EXPIRED else at,
    )
    return True


@transaction.atomic
def end_consent(*, app_pk: int, request_id: str) -> None:
    """The app lets go: a pending request is cancelled, a live grant released; repeated, nothing happens."""
    request = ConsentRequest.objects.filter(app_id=app_pk, request_id=request_id).first()
    if request is None:
        raise UnknownRequest
    now = database_now()
    if close_request(request_pk=request.pk, to=RequestStatus.CANCELLED, actor=Actor.APP, at=now):
        return
    grant = Grant.objects.filter(request=request, expires_at__gt=now).first()
    if grant is not None:
        end_grant(grant_pk=grant.pk, to=GrantStatus.RELEASED, actor=Actor.APP, at=now)


def _move(*, grant_id: str, by: "User", change: Callable[[Grant, datetime], bool]) -> str:
    """Do `change` to a grant of this person; returns the request's id. Refuses where the lifecycle has no such move."""
    with transaction.atomic():
        grant = Grant.objects.select_related("request").filter(grant_id=grant_id, user=by).first()
        if grant is None:
            raise UnknownGrant
        now = database_now()
        expired = grant.status in LIVE_GRANTS and grant.expires_at <= now
        if expired or not change(grant, now):
            grant.refresh_from_db()
            raise MoveNotAllowed(grant_status=GrantStatus.EXPIRED if expired else grant.status)
    return grant.request.request_id


def revoke(*, grant_id: str, by: "User") -> str:
    """The person stops sharing. Repeated, it is still stopped and nothing more happens."""

    def change(grant: Grant, now: datetime) -> bool:
        return grant.status == GrantStatus.REVOKED or end_grant(
            grant_pk=grant.pk, to=GrantStatus.REVOKED, actor=Actor.PERSON, at=now
        )

    return _move(grant_id=grant_id, by=by, change=change)


def revoke_all(*, app_pk: int, by: "User") -> int:
    """The person stops everything that this app can read; returns how many grants that ended. Inside a transaction."""
    now = database_now()
    live = Grant.objects.filter(user=by, app_id=app_pk, status__in=LIVE_GRANTS, expires_at__gt=now)
    # all of them before the first is written down: requests and grants are locked before any head
    held = list(live.select_for_update().order_by("pk").values_list("pk", flat=True))
    return sum(end_grant(grant_pk=grant_pk, to=GrantStatus.REVOKED, actor=Actor.PERSON, at=now) for grant_pk in held)


def pause(*, grant_id: str, by: "User") -> str:
    """The person stops reads for now; the ciphertext stays."""
    return _move(grant_id=grant_id, by=by, change=_switch(GrantStatus.ACTIVE, GrantStatus.PAUSED, "paused"))


def resume(*, grant_id: str, by: "User") -> str:
    """The person lets reads go on until the grant's old end."""
    return _move(grant_id=grant_id, by=by, change=_switch(GrantStatus.PAUSED, GrantStatus.ACTIVE, "resumed"))


def _switch(old: GrantStatus, new: GrantStatus, event: str) -> Callable[[Grant, datetime], bool]:
    def change(grant: Grant, now: datetime) -> bool:
        if grant.status == new:
            return True
        if not Grant.objects.filter(pk=grant.pk, status=old, expires_at__gt=now).update(status=new):
            return False
        fresh = Grant.objects.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant.pk)
        record(request=fresh.request, grant=fresh, event=event, actor=Actor.PERSON, at=now, facts={})
        return True

    return change


@transaction.atomic
def terminate(*, grant_id: str, by: "User", reason: str) -> bool:
    """Staff end a grant, saying why; False where it had ended already, be it by the clock alone."""
    grant = Grant.objects.filter(grant_id=grant_id).first()
    if grant is None:
        raise UnknownGrant
    now = database_now()
    return grant.expires_at > now and end_grant(
        grant_pk=grant.pk,
        to=GrantStatus.TERMINATED,
        actor=Actor.STAFF,
        at=now,
        reason=f"{by.public_id}: {reason}"[:500],
    )


def cancel_requests_of(*, by: "User", entry_pk: int | None = None, app_pk: int | None = None) -> int:
    """Cancel what waits on a scope entry or app that staff changed: people decide on what they were shown, or not."""
    waiting = ConsentRequest.objects.filter(status=RequestStatus.PENDING)
    if entry_pk is not None:
        waiting = waiting.filter(scope_entry_id=entry_pk)
    if app_pk is not None:
        waiting = waiting.filter(app_id=app_pk)
    if entry_pk is None and app_pk is None:
        return 0
    with transaction.atomic():
        held = list(waiting.select_for_update(of=("self",)).select_related("user", "app").order_by("pk"))
        lock_heads(
            chain
            for request in held
            for chain in (audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id))
        )
        return sum(
            close_request(
                request_pk=request.pk,
                to=RequestStatus.CANCELLED,
                actor=Actor.STAFF,
                at=database_now(),
                facts={"by": by.public_id, "why": "the scope or what is said of the app changed"},
            )
            for request in held
        )


def write_down_expiry(*, limit: int = 500) -> int:
    """Write down what the clock has already decided; returns how many. Each in a transaction of its own."""
    now = database_now()
    written = 0
    requests = ConsentRequest.objects.filter(status=RequestStatus.PENDING, expires_at__lte=now).order_by(
        "expires_at", "pk"
    )
    for request_pk in list(requests.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += close_request(request_pk=request_pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now)
    grants = Grant.objects.filter(status__in=LIVE_GRANTS, expires_at__lte=now).order_by("expires_at", "pk")
    for grant_pk in list(grants.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += end_grant(
                grant_pk=grant_pk, to=GrantStatus.EXPIRED, actor=Actor.SYSTEM, at=now, only_expired=True
            )
    return written
