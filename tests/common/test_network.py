"""Who is at the other end of a call, with and without proxies of ours in front."""

from typing import Any

import pytest
from django.test import RequestFactory

from common.network import client_address, network_of


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, None, "127.0.0.1"),
        (0, "203.0.113.7", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "203.0.113.7", "203.0.113.7"),
        (1, "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        (1, "198.51.100.1,203.0.113.7", "203.0.113.7"),
        (1, "198.51.100.1, ", "127.0.0.1"),
        (1, "2001:DB8::7", "2001:db8::7"),
        (1, "203.0.113.7:51200", "203.0.113.7"),
        (1, "[2001:db8::7]:51200", "2001:db8::7"),
        (1, "fe80::7%eth0", "fe80::7"),
        (1, "::ffff:203.0.113.7", "203.0.113.7"),
        (1, "x" * 300, "127.0.0.1"),
        (1, "unknown", "127.0.0.1"),
        (2, "192.0.2.66, 198.51.100.1, 203.0.113.7", "198.51.100.1"),
        (2, "203.0.113.7", "203.0.113.7"),
    ],
)
def test_only_our_own_proxies_say_who_calls(proxies: int, forwarded: str | None, found: str, settings: Any) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}

    assert client_address(RequestFactory().get("/", headers=headers)) == found


@pytest.mark.parametrize(
    ("peer", "found"), [("", ""), ("unix:", ""), ("::1", "::1"), ("::ffff:192.0.2.1", "192.0.2.1")]
)
def test_the_other_end_of_a_socket_may_have_no_address(peer: str, found: str, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 0

    assert client_address(RequestFactory().get("/", REMOTE_ADDR=peer)) == found


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("", ""),
        ("nowhere", ""),
    ],
)
def test_a_network_is_what_one_caller_has(address: str, network: str) -> None:
    assert network_of(address) == network
