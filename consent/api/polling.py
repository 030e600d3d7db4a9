"""How often a request may be polled: per process, in memory, best effort (contract 1.4).

A limit in the database or in Redis would cost more than the read that it protects.
"""

import math
import time
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.limits import Count
from common.token_buckets import Buckets, bucket_count
from consent.errors import SlowDown

_NAME = "status-polls"
_SLOWER_INTERVAL = 10  # seconds, told to who polls too fast

polls = Buckets()


class StatusPolls(BaseThrottle):
    """The pace of one request's polls; a call that is held until the status changes is none."""

    def allow_request(self, request: Request, view: Any) -> bool:
        given = dict(view.request.query_pairs)
        named = given.get("request_id") or f"{given.get('user_id', '')} {given.get('scope', '')}"
        count = look if given.get("wait", "").strip("0-") else pace
        view.note(*count(view.app.app_pk, named[:300]))
        return True


def pace(app_pk: int, name: str) -> list[Count]:
    """Count one poll of `name` by this app, where polls are limited; raises `SlowDown` where it polls too often."""
    burst, per_second = settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND
    if not burst or not per_second:
        return []
    wait, level = polls.draw((app_pk, name), burst=burst, per_second=per_second, now=time.monotonic())
    found = [bucket_count(_NAME, burst=burst, per_second=per_second, level=level)]
    if wait:
        raise SlowDown(
            f"Poll every {_SLOWER_INTERVAL} seconds, or let `wait` hold the answer.",
            headers={"Retry-After": str(math.ceil(wait))},
            interval=_SLOWER_INTERVAL,
            limits=found,
        )
    return found


def look(app_pk: int, name: str) -> list[Count]:
    """Where polls of `name` stand, for a call that is held and counts as none."""
    burst, per_second = settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND
    if not burst or not per_second:
        return []
    level = polls.level((app_pk, name), burst=burst, per_second=per_second, now=time.monotonic())
    return [bucket_count(_NAME, burst=burst, per_second=per_second, level=level)]
