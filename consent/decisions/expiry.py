"""Writing down what the clock has decided already, or that of a sandbox moved ahead."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from common.clock import database_now
from consent.grants.actions import end_grant
from consent.grants.models import Grant, GrantQuerySet
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest, ConsentRequestQuerySet
from consent.states import Actor, GrantStatus, RequestStatus

if TYPE_CHECKING:
    from accounts.models import User


def write_down_expiry(*, limit: int = 500) -> int:
    """Write down what the clock has already decided; returns how many. Each in a transaction of its own."""
    return _write_down(
        ConsentRequest.objects.all(), Grant.objects.all(), clock=(now := database_now()), at=now, limit=limit
    )


def expire_ahead(*, of: "User", seconds: int) -> int:
    """End all of this person's that the clock would end within `seconds`, as it would then; returns how many.

    No time that is kept moves, so what comes afterwards has its whole time before it.
    """
    now = database_now()
    return _write_down(
        ConsentRequest.objects.filter(user=of),
        Grant.objects.filter(user=of),
        clock=now + timedelta(seconds=seconds),
        at=now,
        limit=None,
    )


def _write_down(
    requests: ConsentRequestQuerySet, grants: GrantQuerySet, *, clock: datetime, at: datetime, limit: int | None
) -> int:
    written = 0
    overdue = requests.overdue(clock).order_by("expires_at", "pk")
    for request_pk in list(overdue.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += close_request(
                request_pk=request_pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=at, clock=clock
            )
    ending = grants.overdue(clock).order_by("expires_at", "pk")
    for grant_pk in list(ending.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += end_grant(
                grant_pk=grant_pk, to=GrantStatus.EXPIRED, actor=Actor.SYSTEM, at=at, only_expired_at=clock
            )
    return written
