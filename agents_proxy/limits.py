"""How often agents may be called: per session or consent, and per network; in memory, per process."""

import math
import time

from django.conf import settings

from accounts.pacing import Buckets
from agents_proxy.errors import TooManyCalls

sessions, addresses = Buckets(), Buckets()


def count_call(*, key: str | None, network: str) -> None:
    """Count one call; raises `TooManyCalls` where there were too many lately."""
    if network:  # a socket without an address tells nobody apart
        _take(addresses, network, settings.A2A_ADDRESS_BURST, settings.A2A_ADDRESS_PER_SECOND)
    if key is not None:
        _take(sessions, key, settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND)


def _take(buckets: Buckets, key: str, burst: int, per_second: int) -> None:
    if not burst or not per_second:
        return
    wait = buckets.take(key, burst=burst, per_second=per_second, now=time.monotonic())
    if wait:
        raise TooManyCalls(headers={"Retry-After": str(math.ceil(wait))})
