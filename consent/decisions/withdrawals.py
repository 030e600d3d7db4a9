"""What a withdrawn scope leaves to be done: requests that wait are cancelled, and live grants end where staff said so.

The rows of `scope_withdrawals` are the queue. Each batch is a transaction of its own, so that nobody waits long for it,
and a worker that ends in the middle leaves the rest to the next run.
"""

import time
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet

from accounts.models import User
from common.broker import enqueue
from common.clock import database_now
from common.shutdown import shutdown
from consent.decisions.models import ScopeWithdrawal
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.protection import lock_heads
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.states import Actor, GrantStatus, RequestStatus

FINISH = "consent.tasks.finish_withdrawals"
_BATCH = 50  # rows, whose apps' chains nobody else writes to meanwhile
_AT_ONCE = 50.0  # seconds that one run of the task takes at most
_WHY = "staff withdrew the scope"


def note_withdrawals(*, entry_pks: Iterable[int], by: User, ends_grants: bool) -> None:
    """Leave the work to the worker. Inside the transaction that withdraws these entries, which are locked."""
    now = database_now()
    newest_request = ConsentRequest.objects.aggregate(newest=Max("pk"))["newest"] or 0
    newest_grant = Grant.objects.aggregate(newest=Max("pk"))["newest"] or 0
    ScopeWithdrawal.objects.bulk_create(
        ScopeWithdrawal(
            scope_entry_id=entry_pk,
            by=by,
            ends_grants=ends_grants,
            newest_request=newest_request,
            newest_grant=newest_grant,
            at=now,
        )
        for entry_pk in entry_pks
    )
    transaction.on_commit(partial(enqueue, FINISH))


def is_due() -> bool:
    """Whether a withdrawal is not carried out yet."""
    return _unfinished().exists()


def finish_withdrawals(*, most_seconds: float = _AT_ONCE) -> int:
    """Do what is left of every withdrawal, the oldest first; returns how many requests and grants that ended.

    A withdrawal that another worker has in hand is left to that one.
    """
    until = time.monotonic() + most_seconds
    done = 0
    for withdrawal_pk in list(_unfinished().order_by("pk").values_list("pk", flat=True)):
        while (batch := _finish_batch(withdrawal_pk)) is not None:
            done += batch
            if shutdown.has_begun() or time.monotonic() > until:
                return done  # the next run goes on
    return done


def cancel_one(*, request_id: str) -> None:
    """Cancel a request on a withdrawn scope that somebody wants to decide before the task has come to it."""
    with transaction.atomic():
        request = ConsentRequest.objects.select_for_update().get(request_id=request_id)
        withdrawal = ScopeWithdrawal.objects.filter(scope_entry=request.scope_entry_id).order_by("-pk").first()
        _cancel(request.pk, withdrawal, database_now())


def _unfinished() -> QuerySet[ScopeWithdrawal]:
    return ScopeWithdrawal.objects.filter(finished_at=None)


def _finish_batch(withdrawal_pk: int) -> int | None:
    """How many ended in one batch; None where nothing is left to do, or another worker does it."""
    with transaction.atomic():
        locked = _unfinished().select_for_update(skip_locked=True, of=("self",)).select_related("scope_entry", "by")
        withdrawal = locked.filter(pk=withdrawal_pk).first()
        if withdrawal is None:
            return None
        now, own = database_now(), ScopeWithdrawal.objects.filter(pk=withdrawal_pk)
        pending, live = _pending(withdrawal, now), _live(withdrawal, now)
        cancelled = sum(_cancel(request.pk, withdrawal, now) for request in _lock_batch(pending))
        ended = 0 if cancelled else sum(_end(grant.pk, withdrawal, now) for grant in _lock_batch(live))
        # somebody else may have ended just those that were looked for, with others behind them
        if not cancelled and not ended and not pending.exists() and not live.exists():
            own.update(finished_at=now)
            return None
        own.update(cancelled=F("cancelled") + cancelled, ended=F("ended") + ended)
        return cancelled + ended


def _pending(withdrawal: ScopeWithdrawal, now: datetime) -> QuerySet[ConsentRequest]:
    pending = ConsentRequest.objects.pending(now)
    return pending.filter(scope_entry=withdrawal.scope_entry_id, pk__lte=withdrawal.newest_request)


def _live(withdrawal: ScopeWithdrawal, now: datetime) -> QuerySet[Grant]:
    """None where staff let the grants live on."""
    live = Grant.objects.live(now) if withdrawal.ends_grants else Grant.objects.none()
    return live.filter(scope=withdrawal.scope_entry.scope, pk__lte=withdrawal.newest_grant)


def _cancel(request_pk: int, withdrawal: ScopeWithdrawal | None, now: datetime) -> bool:
    return close_request(
        request_pk=request_pk,
        to=RequestStatus.CANCELLED,
        actor=Actor.STAFF,
        at=now,
        facts={"by": _who(withdrawal), "why": _WHY},
        to_app={"by": Actor.STAFF.value},
    )


def _end(grant_pk: int, withdrawal: ScopeWithdrawal, now: datetime) -> bool:
    own_id = _who(withdrawal)
    return end_grant(
        grant_pk=grant_pk, to=GrantStatus.TERMINATED, actor=Actor.STAFF, at=now, reason=_WHY, own_id=own_id
    )


def _lock_batch(rows: Any) -> list[Any]:
    """The next batch, locked; then the heads of all their chains, in the one order."""
    locked = list(rows.select_for_update(of=("self",)).select_related("user", "app").order_by("pk")[:_BATCH])
    lock_heads(
        chain for row in locked for chain in (audit.person_chain(row.user.public_id), audit.app_chain(row.app.app_id))
    )
    return locked


def _who(withdrawal: ScopeWithdrawal | None) -> str:
    """The public id of the member of staff; empty where their account is gone."""
    return withdrawal.by.public_id if withdrawal is not None and withdrawal.by is not None else ""
