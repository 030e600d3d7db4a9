"""What becomes of a grant: paused, resumed, ended, refreshed or not."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F

from accounts.models import User
from common.clock import database_now
from common.identifiers import new_identifier
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.event_types import EventType
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.ledger import audit
from consent.ledger.entry_limit import count_own_entry
from consent.ledger.protection import append_or_defer, own_entry, try_write
from consent.requests.actions import RELATED
from consent.requests.models import ConsentRequest, RefreshPolicy
from consent.requests.receipt_claims import GrantFacts
from consent.requests.record import Change, record, record_together
from consent.schemas import ApproveBody
from consent.states import GRANT_MOVES, LIVE_GRANTS, Actor, GrantStatus
from pkm.notes import write_notes
from pkm.web.schemas import NotesBody

_PAUSED_TOGETHER = 500


def facts_of(grant: Grant) -> GrantFacts:
    """What the records of an event say of this grant."""
    return GrantFacts(
        grant_id=grant.grant_id,
        status=grant.status,
        approved_attributes=grant.approved_attributes,
        starts_at=grant.starts_at,
        expires_at=grant.expires_at,
        max_reads=grant.max_reads,
        ended_at=grant.ended_at,
        ended_by=grant.ended_by,
    )


def lock_live_grants(request: ConsentRequest) -> list[int]:
    """Live grants of the same app, person and scope; locked, lowest first, as a refresh locks before it looks."""
    live = Grant.objects.select_for_update().filter(
        app_id=request.app_id, user_id=request.user_id, scope=request.scope, status__in=LIVE_GRANTS
    )
    return list(live.order_by("pk").values_list("pk", flat=True))


def supersede(grant_pks: Iterable[int], *, at: datetime) -> int:
    """End these for a newer grant; returns how many. One that the clock had ended already ends as expired."""
    ended = 0
    for grant_pk in grant_pks:
        is_overdue = Grant.objects.overdue(at).filter(pk=grant_pk).exists()
        to = GrantStatus.EXPIRED if is_overdue else GrantStatus.SUPERSEDED
        ended += end_grant(grant_pk=grant_pk, to=to, actor=Actor.SYSTEM, at=at)
    return ended


def make_grant(*, request: ConsentRequest, body: ApproveBody, claims: dict[str, Any]) -> Grant:
    """What the person approved of this request, for the time that their vault signed in `claims`."""
    return Grant.objects.create(
        grant_id=new_identifier("grt"),
        request=request,
        app_id=request.app_id,
        user=request.user,
        scope=request.scope,
        approved_attributes=body.approved_attributes,
        starts_at=datetime.fromtimestamp(claims["iat"], UTC),
        expires_at=datetime.fromtimestamp(claims["ends_at"], UTC),
        max_reads=request.max_reads,
        reminder_waits=timedelta(seconds=body.access_duration) >= FORGOTTEN_AFTER,
    )


def end_grant(
    *,
    grant_pk: int,
    to: GrantStatus,
    actor: Actor,
    at: datetime,
    reason: str = "",
    own_id: str = "",
    only_expired_at: datetime | None = None,
) -> bool:
    """Move a live grant to an end and delete its ciphertext; False where it was not live. Inside a transaction.

    With `only_expired_at`, False too where its time is not over by that clock. `reason` is why staff or the service
    ended it, and `own_id` which of the staff did, which the app is not told.
    """
    why = (f"{own_id}: {reason}" if own_id else reason)[:500]
    sources = [old for old, news in GRANT_MOVES.items() if to in news]
    found = Grant.objects.overdue(only_expired_at) if only_expired_at else Grant.objects.all()
    live = found.filter(pk=grant_pk, status__in=sources)
    ended_at = F("expires_at") if to is GrantStatus.EXPIRED else at
    if not live.update(status=to, ended_at=ended_at, ended_by=actor, end_reason=why):
        return False
    grant = Grant.objects.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant_pk)
    grant.exports.update(ciphertext=None)
    record(
        Change(
            grant.request,
            EventType(to),
            actor,
            at,
            grant=facts_of(grant),
            facts={"reads": grant.reads, "reason": why} if why else {"reads": grant.reads},
            to_app={"reason": f"{actor}: {reason}"[:500]} if own_id and why else {},
            happened=grant.expires_at if to is GrantStatus.EXPIRED else at,
        )
    )
    return True


def _move(*, grant_id: str, by: User, change: Callable[[Grant, datetime], bool]) -> str:
    """Do `change` to a grant of this person; returns the request's id. Refuses where the lifecycle has no such move."""
    with transaction.atomic():
        grant = Grant.objects.select_related("request").filter(grant_id=grant_id, user=by).first()
        if grant is None:
            raise UnknownGrant
        now = database_now()
        if grant.status_at(now) is GrantStatus.EXPIRED or not change(grant, now):
            grant.refresh_from_db()
            raise MoveNotAllowed(grant_status=grant.status_at(now))
    return grant.request.request_id


def revoke(*, grant_id: str, by: User, notes: NotesBody | None = None) -> str:
    """The person stops sharing. Repeated, it is still stopped and nothing more happens.

    `notes` are the vault's own, without this approval: kept with the end or not at all.
    """

    def change(grant: Grant, now: datetime) -> bool:
        if grant.status == GrantStatus.REVOKED:
            return True
        if notes is not None:  # the grant, then the person's vault, then the heads, as a newer export locks them
            Grant.objects.select_for_update().get(pk=grant.pk)
            write_notes(by=by, **notes.model_dump())
        return end_grant(grant_pk=grant.pk, to=GrantStatus.REVOKED, actor=Actor.PERSON, at=now)

    return _move(grant_id=grant_id, by=by, change=change)


def revoke_all(*, app_pk: int, by: User, notes: NotesBody | None = None) -> int:
    """The person stops everything that this app can read; returns how many grants that ended. Inside a transaction.

    `notes` are the vault's own, without these approvals, as for `revoke`.
    """
    now = database_now()
    live = Grant.objects.live(now).filter(user=by, app_id=app_pk)
    # all of them before the first is written down: requests and grants are locked before any head
    locked = list(live.select_for_update().order_by("pk").values_list("pk", flat=True))
    if locked and notes is not None:
        write_notes(by=by, **notes.model_dump())
    return sum(end_grant(grant_pk=grant_pk, to=GrantStatus.REVOKED, actor=Actor.PERSON, at=now) for grant_pk in locked)


def pause(*, grant_id: str, by: User) -> str:
    """The person stops reads for now; the ciphertext stays."""
    return _move(grant_id=grant_id, by=by, change=_switch(GrantStatus.ACTIVE, GrantStatus.PAUSED, EventType.PAUSED))


def pause_all(*, by: User, app_pk: int | None = None) -> int:
    """The person stops all reads for now, of one app or of every app; returns how many grants that paused.

    Each leaves what `pause` leaves. So many are one transaction; what is approved meanwhile may be paused or not.
    """
    paused = 0
    while some := _pause_some(by=by, app_pk=app_pk):
        paused += some
    return paused


@transaction.atomic
def _pause_some(*, by: User, app_pk: int | None) -> int:
    now = database_now()
    active = Grant.objects.live(now).active().filter(user=by)
    if app_pk is not None:
        active = active.filter(app_id=app_pk)
    locked = active.select_for_update(of=("self",)).select_related(*(f"request__{name}" for name in RELATED))
    batch = list(locked.order_by("pk")[:_PAUSED_TOGETHER])
    Grant.objects.filter(pk__in=[grant.pk for grant in batch]).update(status=GrantStatus.PAUSED)
    for grant in batch:
        grant.status = GrantStatus.PAUSED  # as the entry tells it
    changes = [Change(grant.request, EventType.PAUSED, Actor.PERSON, now, grant=facts_of(grant)) for grant in batch]
    if changes:
        alone = partial(_record_each, changes)
        what = f"the audit entries “{EventType.PAUSED}”"
        try_write(partial(record_together, changes), otherwise=alone, what=what, about=by.public_id)
    return len(batch)


def _record_each(changes: Iterable[Change]) -> None:
    for change in changes:
        record(change)


def resume(*, grant_id: str, by: User, signed: Callable[[Grant, datetime], str]) -> str:
    """The person lets reads go on until the grant's old end.

    `signed` refuses where their vault did not sign this, and returns the SHA-256 of what it did: opening reading again
    is an approval. What it names is used up with it.
    """

    def change(grant: Grant, now: datetime) -> bool:
        if not grant.is_live(now):
            return False
        locked = Grant.objects.select_for_update(of=("self",)).select_related(*(f"request__{name}" for name in RELATED))
        approval_sha256 = signed(locked.get(pk=grant.pk), now)
        Grant.objects.filter(pk=grant.pk).update(resume_nonce="", resume_nonce_until=None)
        move = _switch(GrantStatus.PAUSED, GrantStatus.ACTIVE, EventType.RESUMED, approval_sha256)
        return move(grant, now)

    return _move(grant_id=grant_id, by=by, change=change)


def _switch(
    old: GrantStatus, new: GrantStatus, event: EventType, approval_sha256: str = ""
) -> Callable[[Grant, datetime], bool]:
    def change(grant: Grant, now: datetime) -> bool:
        if grant.status == new:
            return True
        if not Grant.objects.live(now).filter(pk=grant.pk, status=old).update(status=new):
            return False
        fresh = Grant.objects.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant.pk)
        grant_facts = facts_of(fresh)
        record(Change(fresh.request, event, Actor.PERSON, now, grant=grant_facts, approval_sha256=approval_sha256))
        return True

    return change


@transaction.atomic
def terminate(*, grant_id: str, by: User, reason: str) -> bool:
    """Staff end a grant, saying why; False where it had ended already, be it by the clock alone."""
    grant = Grant.objects.filter(grant_id=grant_id).first()
    if grant is None:
        raise UnknownGrant
    now = database_now()
    return grant.is_live(now) and end_grant(
        grant_pk=grant.pk, to=GrantStatus.TERMINATED, actor=Actor.STAFF, at=now, reason=reason, own_id=by.public_id
    )


@transaction.atomic
def switch_refresh(*, grant_id: str, by: User, on: bool) -> str:
    """Switch the refresh of a continuous grant's export on or off; returns the request's id.

    Raises `UnknownGrant`, `MoveNotAllowed`, and of switching it on `AuditUnavailable` and `TooManyRequests`.
    """
    grant = (
        Grant.objects.select_for_update(of=("self",))
        .select_related("request", "app")
        .filter(grant_id=grant_id, user=by)
    )
    found = grant.first()
    if found is None:
        raise UnknownGrant
    status = found.status_at(database_now())
    if status not in LIVE_GRANTS or found.request.refresh_policy != RefreshPolicy.CONTINUOUS:
        raise MoveNotAllowed("Only a live approval of changing data is kept up to date.", grant_status=status)
    if found.kept_current != on:
        Grant.objects.filter(pk=found.pk).update(kept_current=on)
        facts = {"request_id": found.request.request_id, "grant_id": grant_id, "app_id": found.app.app_id, "kept": on}
        entry = own_entry(by, EventType.KEPT_CURRENT, facts)
        if on:  # newer values are handed out; that they no longer are protects
            count_own_entry(by=by)
            audit.append(**entry)
        else:
            append_or_defer(**entry, about=grant_id)
    return found.request.request_id
