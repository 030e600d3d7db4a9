"""Where a connection goes: checked before a packet leaves, and the same whatever the reason that it does not."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from agents_proxy import upstream
from agents_proxy.errors import CallFailed
from common import addresses, outbound
from consent import delivery
from tests.factories.asked import now

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
REFUSED = delivery.Outcome(None, "it cannot be reached")


class Listener:
    """A port of this machine that counts who connects, and answers nothing."""

    def __init__(self, family: int = socket.AF_INET, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_server((host, 0), family=family)
        self.port = int(self._socket.getsockname()[1])
        self.connected = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):
            while True:
                peer, _ = self._socket.accept()
                self.connected += 1
                peer.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


def send(url: str) -> delivery.Outcome:
    return delivery.send(url=url, secret=SECRET, message_id="msg_1", kind="consent.denied", at=now(), data={})


# every way to write 127.0.0.1 (or a place as bad) that a resolver or a parser takes, with the port filled in
SPELLINGS = [
    "http://127.0.0.1:{}/", "http://127.1:{}/", "http://127.0.1:{}/", "http://2130706433:{}/",
    "http://0x7f000001:{}/", "http://0x7f.0.0.1:{}/", "http://0x7F.1:{}/", "http://017700000001:{}/",
    "http://0177.0.0.1:{}/", "http://0177.0x0.0.01:{}/", "http://127.0.0.1.:{}/", "http://localhost:{}/",
    "http://localhost.:{}/", "http://LOCALHOST:{}/",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54:{}/",
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:{}/",
    "http://127\u30020\u30020\u30021:{}/", "http://\u2460\u2461\u2466.0.0.1:{}/", "http://example.org@127.0.0.1:{}/",
    "http://example.org:80@127.0.0.1:{}/", "http://127.0.0.1:{}@127.0.0.1:{}/", "http://127.0.0.1:{}\\@8.8.8.8/",
    "http://0.0.0.0:{}/", "http://0:{}/", "http://[::1]:{}/", "http://[::]:{}/", "http://[::ffff:127.0.0.1]:{}/",
    "http://[::ffff:7f00:1]:{}/", "http://[0:0:0:0:0:0:0:1]:{}/", "http://[::127.0.0.1]:{}/",
    "http://[64:ff9b::127.0.0.1]:{}/", "http://[64:ff9b:1::7f00:1]:{}/", "http://[2002:7f00:1::]:{}/",
    "http://[fe80::1]:{}/", "http://[fe80::1%25lo]:{}/", "http://[::1%25lo]:{}/", "http://[fec0::1]:{}/",
    "http://168.63.129.16:{}/", "http://192.0.0.192:{}/", "http://169.254.169.254:{}/", "http://2852039166:{}/",
    "http://[::ffff:a9fe:a9fe]:{}/", "http://10.0.0.7:{}/", "http://[fd00:ec2::254]:{}/", "http://224.0.0.1:{}/",
    "http://255.255.255.255:{}/", "http://100.64.0.1:{}/",
    "https://127.0.0.1:{}/", "https://localhost:{}/", "https://[::1]:{}/", "https://2130706433:{}/",
    "http://{}/", "http://:{}/", "http:///{}", "ftp://127.0.0.1:{}/", "//127.0.0.1:{}/", "http://" + "a" * 70 + ":{}/",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_packet_leaves_for_what_is_not_public(spelling: str, listener: Listener) -> None:
    began = time.monotonic()

    assert send(spelling.replace("{}", str(listener.port))) == REFUSED
    assert time.monotonic() - began < 2  # nobody was waited for
    assert listener.connected == 0


def test_a_closed_port_an_open_one_and_a_bad_certificate_read_the_same(settings: Any, listener: Listener) -> None:
    """The words of a failure are shown to whoever chose the address."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    with socket.create_server(("127.0.0.1", 0)) as gone:
        closed = gone.getsockname()[1]

    assert send(f"http://127.0.0.1:{listener.port}/") == REFUSED  # it takes connections and says nothing
    assert send(f"https://127.0.0.1:{listener.port}/") == REFUSED  # and no TLS either
    assert send(f"http://127.0.0.1:{closed}/") == REFUSED
    assert send("http://no-such-host.invalid/") == REFUSED
    assert listener.connected == 2


def test_one_bad_address_among_good_ones_refuses_them_all(monkeypatch: pytest.MonkeyPatch, listener: Listener) -> None:
    """A name may resolve to several: whoever controls it could have any of them taken."""

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port)) for found in ("8.8.8.8", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    with pytest.raises(outbound.AddressRefused):
        outbound.open_socket("mixed.example", listener.port, may_reach=addresses.is_public, timeout=1)
    assert listener.connected == 0


def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch, listener: Listener) -> None:
    """A name that answers with another address the second time is asked once."""
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        found = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    sock = outbound.open_socket("rebound.example", listener.port, may_reach=addresses.is_host, timeout=1)
    assert sock.getpeername() == ("127.0.0.1", listener.port)
    assert asked == ["rebound.example"]
    sock.close()


@pytest.mark.parametrize("host", ["169.254.169.254", "168.63.129.16", "[fe80::1]", "[::ffff:a9fe:a9fe]", "0.0.0.0"])
def test_a_configured_agent_never_resolves_to_metadata(host: str) -> None:
    """The operator names the agent, but its own DNS says where that is."""
    began = time.monotonic()
    with pytest.raises(CallFailed):
        upstream.post(f"http://{host}:1/", b"{}", headers={}, timeout=5, limit=100)
    assert time.monotonic() - began < 2


def test_the_name_of_the_address_is_what_tls_verifies() -> None:
    """The socket goes to a checked address, and the certificate still has to be the name's."""
    connection = outbound.ToPublicTls("example.org", 443)

    assert (connection.host, connection.assert_hostname) == ("example.org", None)
    assert connection.cert_reqs in (None, ssl.CERT_REQUIRED)
