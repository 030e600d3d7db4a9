"""Who is at the other end of a call, with and without a proxy of ours in front."""

from typing import Any

import pytest
from django.test import RequestFactory

from accounts.addresses import address_of


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "found"),
    [
        (False, None, "127.0.0.1"),
        (False, "203.0.113.7", "127.0.0.1"),
        (True, None, "127.0.0.1"),
        (True, "", "127.0.0.1"),
        (True, "203.0.113.7", "203.0.113.7"),
        (True, "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        (True, "198.51.100.1, ", "127.0.0.1"),
        (True, "2001:db8::7", "2001:db8::7"),
        (True, "x" * 300, "x" * 64),
    ],
)
def test_only_our_own_proxy_says_who_calls(
    behind_proxy: bool, forwarded: str | None, found: str, settings: Any
) -> None:
    settings.USE_X_FORWARDED_PROTO = behind_proxy
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}

    assert address_of(RequestFactory().get("/", headers=headers)) == found
