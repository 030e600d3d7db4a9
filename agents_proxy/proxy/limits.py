"""How often agents may be called: per session or consent, and per network; in memory, per process."""

import math
import time
from collections.abc import Iterator

from django.conf import settings

from agents_proxy.errors import TooManyCalls
from common.limits import Count, headers
from common.token_buckets import Buckets, bucket_count

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


def limit_headers(*, key: str | None, network: str) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` of this caller, who may not have been counted."""
    return headers(_standings(key, network))


def _standings(key: str | None, network: str) -> Iterator[Count]:
    per_address = settings.A2A_ADDRESS_BURST, settings.A2A_ADDRESS_PER_SECOND
    if network:
        yield from _standing("calls-per-address", addresses, network, *per_address)
    if key is not None:
        per_session = settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND
        yield from _standing("calls-per-session", sessions, key, *per_session)


def _standing(name: str, buckets: Buckets, key: str, burst: int, per_second: int) -> Iterator[Count]:
    if burst and per_second:
        level = buckets.level(key, burst=burst, per_second=per_second, now=time.monotonic())
        yield bucket_count(name, burst=burst, per_second=per_second, level=level)
