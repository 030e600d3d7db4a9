"""The ends of a request that has no grant: cancelled, expired, denied."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from accounts.models import User
from common.clock import database_now
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.protection import lock_heads
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record
from consent.states import Actor, RequestStatus

RELATED = ("app__application", "user", "scope_entry")


def close_request(
    *,
    request_pk: int,
    to: RequestStatus,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any] | None = None,
    to_app: dict[str, Any] | None = None,
    compare_with: datetime | None = None,
) -> bool:
    """Move a pending request to an end without a grant; False where somebody else decided first.

    Must run inside a transaction. Expiry is only ever written where the deadline has passed, everything else only
    where it has not: both are in the compare-and-set, so the clock cannot make two of them true. An expiry is dated by
    its deadline, as every reader was told it before it was written down. `compare_with` is what a deadline is
    compared with where that is not `at`: a sandbox's time, moved ahead. `facts` and `to_app` are as `Change` has them.
    """
    own = ConsentRequest.objects.filter(pk=request_pk)
    undecided = own.overdue(compare_with or at) if to is RequestStatus.EXPIRED else own.pending(at)
    decided_at = F("expires_at") if to is RequestStatus.EXPIRED else at
    if not undecided.update(status=to, decided_at=decided_at, decided_by=actor):
        return False
    request = ConsentRequest.objects.select_related(*RELATED).get(pk=request_pk)
    happened = request.expires_at if to is RequestStatus.EXPIRED else at
    record(Change(request, EventType(to), actor, at, facts=facts or {}, to_app=to_app or {}, happened=happened))
    return True


def cancel_requests_of_entry(*, entry_pk: int, by: User | None) -> int:
    """Cancel what waits on a scope entry that staff changed; returns how many.

    A person must not approve what changed after it was shown. `by` is None where it was not one of the staff but
    `sync_registry`, which an operator runs.
    """
    return _cancel_pending(ConsentRequest.objects.filter(scope_entry_id=entry_pk), by)


def cancel_requests_of_app(*, app_pk: int, by: User | None) -> int:
    """The same of what an app asked, since what is said of the app changed."""
    return _cancel_pending(ConsentRequest.objects.filter(app_id=app_pk), by)


def _cancel_pending(requests: QuerySet[ConsentRequest], by: User | None) -> int:
    pending = requests.filter(status=RequestStatus.PENDING)
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
