"""Writing down what the clock has decided already, or that of a sandbox moved ahead.

The worker does it in batches: a batch is one transaction, which takes some hundred rows that nobody else holds, ends
them, and leaves of each what `close_request` and `end_grant` leave of one. What fails as a batch is done one by one.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet

from accounts.models import User
from common.batches import is_database_away, one_by_one, until_done
from common.clock import database_now
from common.sql.statements import locks_waited_for
from consent.connections.models import Connection
from consent.event_types import EventType
from consent.exports.models import Export
from consent.grants.actions import end_grant, facts_of
from consent.grants.models import Grant
from consent.ledger import audit
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record_together
from consent.states import Actor, GrantStatus, RequestStatus

_log = logging.getLogger(__name__)
BATCH = 200  # rows a transaction, whose apps' chains nobody else writes to meanwhile
_LOCK_TIMEOUT = "3s"  # for a chain's head; who holds one longer holds up one row, not a batch
_AT_ONCE = 6.0  # seconds of one run for requests, and as many for grants


def is_due() -> bool:
    """Whether the clock has ended anything that is not written down."""
    now = database_now()
    return (
        ConsentRequest.objects.overdue(now).exists()
        or Grant.objects.overdue(now).exists()
        or Connection.objects.overdue(now).exists()
    )


def write_down_expiry(*, most_seconds: float = _AT_ONCE) -> int:
    """Write down what the clock has already decided; returns how many.

    It goes on until nothing is left, or for so many seconds, with requests and then with grants. A row that somebody
    else holds is left to the next run, as is one that cannot be written down.
    """
    now = database_now()
    # many are of one app and scope, which is read once for all of them
    overdue_requests = (
        ConsentRequest.objects.overdue(now).select_related("user").prefetch_related("app__application", "scope_entry")
    )
    live = Grant.objects.overdue(now).select_related("request__user")
    live = live.prefetch_related("request__app__application", "request__scope_entry")
    requests = _Overdue(overdue_requests, _expire_requests, _expire_request)
    grants = _Overdue(live, _expire_grants, _expire_grant)
    return sum(_Run(overdue, now, most_seconds).through() for overdue in (requests, grants))


def expire_ahead(*, of: User, seconds: int) -> int:
    """End all of this person's that the clock would end within `seconds`, as it would then; returns how many.

    No time that is kept moves, so what comes afterwards has its whole time before it.
    """
    now = database_now()
    clock = now + timedelta(seconds=seconds)
    requests = ConsentRequest.objects.filter(user=of).overdue(clock).order_by("expires_at", "pk")
    written = sum(_expire_request(pk, now, clock) for pk in list(requests.values_list("pk", flat=True)))
    grants = Grant.objects.filter(user=of).overdue(clock).order_by("expires_at", "pk")
    return written + sum(_expire_grant(pk, now, clock) for pk in list(grants.values_list("pk", flat=True)))


@transaction.atomic
def _expire_request(request_pk: int, at: datetime, clock: datetime) -> bool:
    return close_request(request_pk=request_pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=at, compare_with=clock)


@transaction.atomic
def _expire_grant(grant_pk: int, at: datetime, clock: datetime) -> bool:
    return end_grant(grant_pk=grant_pk, to=GrantStatus.EXPIRED, actor=Actor.SYSTEM, at=at, only_expired_at=clock)


# --- In batches -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Overdue:
    """What is over, how many of it are ended together, and how one is."""

    rows: QuerySet[Any]  # with what `together` needs of each
    together: Callable[[Sequence[Any], datetime], None]
    alone: Callable[[int, datetime, datetime], bool]


class _Run:
    """One run through what is over, the oldest end first. Each row is looked at once."""

    def __init__(self, overdue: _Overdue, at: datetime, most_seconds: float) -> None:
        self.overdue, self.at, self.most_seconds = overdue, at, most_seconds
        self.after: tuple[datetime, int] | None = None  # the end and the key of the newest row that was looked at

    def through(self) -> int:
        return until_done(self._batch, most_seconds=self.most_seconds)

    def _batch(self) -> int | None:
        """How many were ended; None where nothing is left."""
        looked = list(self._next().values_list("expires_at", "pk", "user__public_id", "app__app_id"))
        if not looked:
            return None
        pks = [pk for _, pk, _, _ in looked]
        self.after = looked[-1][:2]
        try:
            audit.name_chains(
                chain for *_, user, app in looked for chain in (audit.person_chain(user), audit.app_chain(app))
            )
            return self._end(pks)
        except Exception as error:  # a row, a chain or the audit: whatever it is, no other row waits for it
            if is_database_away(error):
                raise
            _log.exception("%d ends could not be written down together", len(pks))
        at = self.at
        return one_by_one(
            pks, lambda pk: self.overdue.alone(pk, at, at), what="the ends", most_seconds=self.most_seconds
        )

    def _next(self) -> QuerySet[Any]:
        rows = self.overdue.rows.order_by("expires_at", "pk")
        if self.after is not None:
            at, pk = self.after
            rows = rows.filter(Q(expires_at__gt=at) | Q(expires_at=at, pk__gt=pk), expires_at__gte=at)
        return rows[:BATCH]

    @transaction.atomic
    def _end(self, pks: Sequence[int]) -> int:
        free = self.overdue.rows.filter(pk__in=pks).select_for_update(skip_locked=True, of=("self",), no_key=True)
        locked = list(free.order_by("expires_at", "pk"))
        if locked:
            with locks_waited_for(_LOCK_TIMEOUT):
                self.overdue.together(locked, self.at)
        return len(locked)


def _expire_requests(requests: Sequence[ConsentRequest], at: datetime) -> None:
    """`close_request` of each. They are overdue and locked."""
    ConsentRequest.objects.filter(pk__in=[request.pk for request in requests]).update(
        status=RequestStatus.EXPIRED, decided_at=F("expires_at"), decided_by=Actor.SYSTEM
    )
    for request in requests:
        # as the entry and the receipt tell it
        request.status, request.decided_at, request.decided_by = RequestStatus.EXPIRED, request.expires_at, Actor.SYSTEM
    expired = EventType.EXPIRED
    record_together([Change(each, expired, Actor.SYSTEM, at, happened=each.expires_at) for each in requests])


def _expire_grants(live: Sequence[Grant], at: datetime) -> None:
    """`end_grant` of each. They are overdue and locked."""
    pks = [grant.pk for grant in live]
    Grant.objects.filter(pk__in=pks).update(status=GrantStatus.EXPIRED, ended_at=F("expires_at"), ended_by=Actor.SYSTEM)
    Export.objects.filter(grant__in=pks).update(ciphertext=None)
    for grant in live:
        grant.status, grant.ended_at, grant.ended_by = GrantStatus.EXPIRED, grant.expires_at, Actor.SYSTEM
    record_together(
        [
            Change(
                grant.request,
                EventType.EXPIRED,
                Actor.SYSTEM,
                at,
                grant=facts_of(grant),
                happened=grant.expires_at,
                facts={"reads": grant.reads},
            )
            for grant in live
        ]
    )
