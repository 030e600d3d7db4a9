"""How often agents may be called: per session or consent, and per network."""

from collections.abc import Iterator

from django.conf import settings

from agents_proxy.errors import TooManyCalls
from common.limits import Limit, count, headers, pace, peek


def count_call(*, key: str | None, network: str) -> None:
    """Count one call; raises `TooManyCalls` where there were too many lately."""
    for limit, named in _limits(key, network):
        found = count(limit, named)
        if found.exceeded:
            raise TooManyCalls(headers=found.retry_after)


def limit_headers(*, key: str | None, network: str) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` of this caller, who may not have been counted."""
    return headers(peek(limit, named) for limit, named in _limits(key, network))


def _limits(key: str | None, network: str) -> Iterator[tuple[Limit, str]]:
    if network:  # a socket without an address tells nobody apart
        burst, per_second = settings.A2A_ADDRESS_BURST, settings.A2A_ADDRESS_PER_SECOND
        yield pace("calls-per-address", burst=burst, per_second=per_second), network
    if key is not None:
        burst, per_second = settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND
        yield pace("calls-per-session", burst=burst, per_second=per_second), key
