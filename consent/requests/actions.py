"""The ends of a request that has no grant: cancelled, expired, denied."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F

from common.clock import database_now
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.protection import lock_heads
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record
from consent.states import Actor, RequestStatus

if TYPE_CHECKING:
    from accounts.models import User


RELATED = ("app__application", "user", "scope_entry")


def close_request(
    *,
    request_pk: int,
    to: RequestStatus,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any] | None = None,
    to_app: dict[str, Any] | None = None,
    clock: datetime | None = None,
) -> bool:
    """Move a pending request to an end without a grant; False where somebody else decided first.

    Must run inside a transaction. Expiry is only ever written where the deadline has passed, everything else only
    where it has not: both are in the compare-and-set, so the clock cannot make two of them true. An expiry is dated by
    its deadline, as every reader was told it before it was written down. `clock` is what an expiry is compared with
    where that is not `at`: a sandbox's, moved ahead. `facts` and `to_app` are as `Change` has them.
    """
    own = ConsentRequest.objects.filter(pk=request_pk)
    undecided = own.overdue(clock or at) if to is RequestStatus.EXPIRED else own.pending(at)
    decided_at = F("expires_at") if to is RequestStatus.EXPIRED else at
    if not undecided.update(status=to, decided_at=decided_at, decided_by=actor):
        return False
    request = ConsentRequest.objects.select_related(*RELATED).get(pk=request_pk)
    happened = request.expires_at if to is RequestStatus.EXPIRED else at
    record(Change(request, EventType(to), actor, at, facts=facts or {}, to_app=to_app or {}, happened=happened))
    return True


def cancel_requests_of(*, by: "User | None", entry_pk: int | None = None, app_pk: int | None = None) -> int:
    """Cancel what waits on a scope entry or app that staff changed: people decide on what they were shown, or not.

    `by` is None where it was not one of the staff but `sync_registry`, which an operator runs.
    """
    pending = ConsentRequest.objects.filter(status=RequestStatus.PENDING)
    if entry_pk is not None:
        pending = pending.filter(scope_entry_id=entry_pk)
    if app_pk is not None:
        pending = pending.filter(app_id=app_pk)
    if entry_pk is None and app_pk is None:
        return 0
    with transaction.atomic():
        locked = list(pending.select_for_update(of=("self",)).select_related("user", "app").order_by("pk"))
        lock_heads(
            chain
            for request in locked
            for chain in (audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id))
        )
        return sum(
            close_request(
                request_pk=request.pk,
                to=RequestStatus.CANCELLED,
                actor=Actor.STAFF,
                at=database_now(),
                facts={
                    "by": by.public_id if by else "sync_registry",
                    "why": "the scope or what is said of the app changed",
                },
                to_app={"by": Actor.STAFF.value},
            )
            for request in locked
        )
