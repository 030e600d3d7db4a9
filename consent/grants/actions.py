"""What becomes of a grant: paused, resumed, ended, refreshed or not."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from common.clock import database_now
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.event_types import EventType
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.protection import append_or_hold, own_entry
from consent.requests.actions import RELATED
from consent.requests.models import RefreshPolicy
from consent.requests.receipt_claims import GrantFacts
from consent.requests.record import record
from consent.states import GRANT_MOVES, LIVE_GRANTS, Actor, GrantStatus
from pkm.notes.actions import write_notes
from pkm.web.schemas import NotesBody

if TYPE_CHECKING:
    from accounts.models import User


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

    With `only_expired_at`, False too where its time is not over by that clock. `reason` is why staff ended it, and
    `own_id` which of them did, which the app is not told.
    """
    why = f"{own_id}: {reason}"[:500] if reason else ""
    sources = [old for old, news in GRANT_MOVES.items() if to in news]
    found = Grant.objects.overdue(only_expired_at) if only_expired_at else Grant.objects.all()
    live = found.filter(pk=grant_pk, status__in=sources)
    ended_at = F("expires_at") if to is GrantStatus.EXPIRED else at
    if not live.update(status=to, ended_at=ended_at, ended_by=actor, end_reason=why):
        return False
    grant = Grant.objects.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant_pk)
    grant.exports.update(ciphertext=None)
    record(
        request=grant.request,
        grant=facts_of(grant),
        event=EventType(to),
        actor=actor,
        at=at,
        facts={"reads": grant.reads, "reason": why} if why else {"reads": grant.reads},
        to_app={"reason": f"{actor}: {reason}"[:500]} if why else None,
        happened=grant.expires_at if to is GrantStatus.EXPIRED else at,
    )
    return True


def _move(*, grant_id: str, by: "User", change: Callable[[Grant, datetime], bool]) -> str:
    """Do `change` to a grant of this person; returns the request's id. Refuses where the lifecycle has no such move."""
    with transaction.atomic():
        grant = Grant.objects.select_related("request").filter(grant_id=grant_id, user=by).first()
        if grant is None:
            raise UnknownGrant
        now = database_now()
        if grant.standing(now) is GrantStatus.EXPIRED or not change(grant, now):
            grant.refresh_from_db()
            raise MoveNotAllowed(grant_status=grant.standing(now))
    return grant.request.request_id


def revoke(*, grant_id: str, by: "User", notes: NotesBody | None = None) -> str:
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


def revoke_all(*, app_pk: int, by: "User") -> int:
    """The person stops everything that this app can read; returns how many grants that ended. Inside a transaction."""
    now = database_now()
    live = Grant.objects.live(now).filter(user=by, app_id=app_pk)
    # all of them before the first is written down: requests and grants are locked before any head
    held = list(live.select_for_update().order_by("pk").values_list("pk", flat=True))
    return sum(end_grant(grant_pk=grant_pk, to=GrantStatus.REVOKED, actor=Actor.PERSON, at=now) for grant_pk in held)


def pause(*, grant_id: str, by: "User") -> str:
    """The person stops reads for now; the ciphertext stays."""
    return _move(grant_id=grant_id, by=by, change=_switch(GrantStatus.ACTIVE, GrantStatus.PAUSED, EventType.PAUSED))


def resume(*, grant_id: str, by: "User", signed: Callable[[Grant, datetime], str]) -> str:
    """The person lets reads go on until the grant's old end.

    `signed` refuses where their vault did not sign this, and returns the SHA-256 of what it did: opening reading again
    is an approval. What it names is used up with it.
    """

    def change(grant: Grant, now: datetime) -> bool:
        if not grant.is_live(now):
            return False
        held = Grant.objects.select_for_update(of=("self",)).select_related(*(f"request__{name}" for name in RELATED))
        approval_sha256 = signed(held.get(pk=grant.pk), now)
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
        record(
            request=fresh.request,
            grant=facts_of(fresh),
            event=event,
            actor=Actor.PERSON,
            at=now,
            facts={},
            approval_sha256=approval_sha256,
        )
        return True

    return change


@transaction.atomic
def terminate(*, grant_id: str, by: "User", reason: str) -> bool:
    """Staff end a grant, saying why; False where it had ended already, be it by the clock alone."""
    grant = Grant.objects.filter(grant_id=grant_id).first()
    if grant is None:
        raise UnknownGrant
    now = database_now()
    return grant.is_live(now) and end_grant(
        grant_pk=grant.pk,
        to=GrantStatus.TERMINATED,
        actor=Actor.STAFF,
        at=now,
        reason=reason,
        own_id=by.public_id,
    )


@transaction.atomic
def switch_refresh(*, grant_id: str, by: "User", on: bool) -> str:
    """Switch the refresh of a continuous grant's export on or off; returns the request's id."""
    grant = (
        Grant.objects.select_for_update(of=("self",))
        .select_related("request", "app")
        .filter(grant_id=grant_id, user=by)
    )
    found = grant.first()
    if found is None:
        raise UnknownGrant
    standing = found.standing(database_now())
    if standing not in LIVE_GRANTS or found.request.refresh_policy != RefreshPolicy.CONTINUOUS:
        raise MoveNotAllowed("Only a live approval of changing data is kept up to date.", grant_status=standing)
    if found.kept_current != on:
        Grant.objects.filter(pk=found.pk).update(kept_current=on)
        facts = {
            "request_id": found.request.request_id,
            "grant_id": grant_id,
            "app_id": found.app.app_id,
            "kept": on,
        }
        entry = own_entry(by, EventType.KEPT_CURRENT, facts)
        if on:  # newer values are handed out; that they no longer are protects
            audit.append(**entry)
        else:
            append_or_hold(**entry, about=grant_id)
    return found.request.request_id
