"""How often a request may be polled: per process, in memory, best effort (contract 1.4)."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common import limits
from common.admission.requests import JSONRequest
from common.limits import Count, Limit
from consent.errors import SlowDown

_SLOWER_INTERVAL = 10  # seconds, told to who polls too fast


class StatusPolls(BaseThrottle):
    """The pace of one request's polls; a call that is held until the status changes is none."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if not dict(view.request.query_pairs).get("wait", "").strip("0-."):
            view.note(pace(view.app.app_pk, polled(view.request)))
        return True


def polled(request: JSONRequest) -> str:
    """What a call for a status names."""
    given = dict(request.query_pairs)
    named = given.get("request_id") or f"{given.get('user_id', '')} {given.get('scope', '')}"
    return named[:300]


def pace(app_pk: int, name: str) -> Count:
    """Count one poll of `name` by this app; raises `SlowDown` where it polls too often."""
    found = limits.count(_limit(), f"{app_pk} {name}")
    if found.exceeded:
        raise SlowDown(
            f"Poll every {_SLOWER_INTERVAL} seconds, or let `wait` hold the answer.",
            headers=found.retry_after,
            interval=_SLOWER_INTERVAL,
            limits=[found],
        )
    return found


def peek(app_pk: int, name: str) -> Count:
    """Where polls of `name` stand, for a call that counts as none."""
    return limits.peek(_limit(), f"{app_pk} {name}")


def _limit() -> Limit:
    burst, per_second = settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND
    return limits.pace("status-polls", burst=burst, per_second=per_second)
