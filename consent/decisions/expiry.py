"""Writing down what the clock has decided already."""

from django.db import transaction

from common.clock import database_now
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.requests.actions import close_request
from consent.requests.models import ConsentRequest
from consent.states import Actor, GrantStatus, RequestStatus


def write_down_expiry(*, limit: int = 500) -> int:
    """Write down what the clock has already decided; returns how many. Each in a transaction of its own."""
    now = database_now()
    written = 0
    requests = ConsentRequest.objects.overdue(now).order_by("expires_at", "pk")
    for request_pk in list(requests.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += close_request(request_pk=request_pk, to=RequestStatus.EXPIRED, actor=Actor.SYSTEM, at=now)
    grants = Grant.objects.overdue(now).order_by("expires_at", "pk")
    for grant_pk in list(grants.values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            written += end_grant(
                grant_pk=grant_pk, to=GrantStatus.EXPIRED, actor=Actor.SYSTEM, at=now, only_expired=True
            )
    return written
