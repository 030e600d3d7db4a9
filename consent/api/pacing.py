"""How often a request may be polled: per process, in memory, best effort (contract 1.4).

A limit in the database or in Redis would cost more than the read that it protects.
"""

import math
import time

from django.conf import settings

from accounts.pacing import Buckets
from consent.errors import SlowDown

_SLOWER_INTERVAL = 10  # seconds, told to who polls too fast

polls = Buckets()


def pace(app_pk: int, name: str) -> None:
    """Count one poll of `name` by this app; raises `SlowDown` where it polls too often."""
    burst, per_second = settings.STATUS_POLL_BURST, settings.STATUS_POLL_PER_SECOND
    if not burst or not per_second:
        return
    wait = polls.take((app_pk, name), burst=burst, per_second=per_second, now=time.monotonic())
    if wait:
        raise SlowDown(
            f"Poll every {_SLOWER_INTERVAL} seconds, or let `wait` hold the answer.",
            headers={"Retry-After": str(math.ceil(wait))},
            interval=_SLOWER_INTERVAL,
        )
