"""The codes of an authenticator app, for everything that signs in with a second factor; needs no Django."""

import base64
import hmac
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager


def totp_code(secret: str) -> str:
    """What an authenticator app shows now (RFC 6238)."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    mac = hmac.digest(base64.b32decode(secret, casefold=True), counter, "sha1")
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start : start + 4]) & 0x7FFFFFFF) % 10**6:06}"


@contextmanager
def in_one_period() -> Iterator[None]:
    """The clock begins with a period, so that a code lasts for half a minute."""
    import time_machine

    with time_machine.travel(time.time() // 30 * 30):
        yield


@contextmanager
def a_period_later() -> Iterator[None]:
    """The clock is half a minute ahead: the app shows another code than the one that was just used."""
    import time_machine

    with time_machine.travel(time.time() + 30):
        yield


def codes(secret: str) -> Iterator[str]:
    """The code of this moment, and where the next period began while it was on its way, that one's; none of none."""
    if secret:
        yield (first := totp_code(secret))
        if (second := totp_code(secret)) != first:
            yield second
