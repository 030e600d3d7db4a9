"""Where a connection goes: checked before a packet leaves, and the same whatever the reason that it does not."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from common import addresses, request_ids
from common.outbound import client, sockets
from common.outbound.client import Answer, Client
from common.outbound.failures import AddressRefused, ExchangeFailed, InvalidAnswer, TimedOut
from common.shutdown import Shutdown
from consent.notices import webhook_client
from tests.factories.consent_requests import now
from tests.fakes import agents as fake
from tests.fakes.agents import agent
from tests.patience import MOST_SECONDS

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
REFUSED = webhook_client.Outcome(None, "it cannot be reached")


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


def send(url: str) -> webhook_client.Outcome:
    return webhook_client.send(
        url=url, secrets=[SECRET], message_id="msg_1", kind="consent.denied", at=now(), data={}, now=now()
    )


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
    assert send(spelling.replace("{}", str(listener.port))) == REFUSED
    assert listener.connected == 0


def test_a_closed_port_an_open_one_and_a_bad_certificate_read_the_same(settings: Any, listener: Listener) -> None:
    """The words of a failure are shown to whoever chose the address."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    assert send(f"http://127.0.0.1:{listener.port}/") == REFUSED  # it takes connections and says nothing
    assert send(f"https://127.0.0.1:{listener.port}/") == REFUSED  # and no TLS either
    with socket.socket() as bound:  # at which nobody listens
        bound.bind(("127.0.0.1", 0))
        assert send(f"http://127.0.0.1:{bound.getsockname()[1]}/") == REFUSED
    assert send("http://no-such-host.invalid/") == REFUSED
    assert listener.connected == 2


def post(url: str, *, public: bool = False, seconds: float = 5, limit: int = 100, body: bytes = b'{"id": 1}') -> Answer:
    """One request over a connection of its own."""
    made = Client(may_reach=addresses.is_public if public else addresses.is_host, connect_seconds=30)
    return made.post(url, body, headers={}, seconds=seconds, limit=limit)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Names resolve to each of `answers` in turn and stay with the last; the names that were asked for."""
    hosts: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        found = answers[min(len(hosts), len(answers) - 1)]
        hosts.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return hosts


def test_one_bad_address_among_good_ones_refuses_them_all(monkeypatch: pytest.MonkeyPatch, listener: Listener) -> None:
    """A name may resolve to several: whoever controls it could have any of them taken."""
    resolving(monkeypatch, ["8.8.8.8", "127.0.0.1"])

    with pytest.raises(AddressRefused):
        post(f"http://mixed.example:{listener.port}/", public=True)
    assert listener.connected == 0


def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that answers with another address the second time is asked once."""
    hosts = resolving(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])

    with agent(fake.answers()) as running:
        assert post(running.url.replace("127.0.0.1", "rebound.example"), limit=1000).status == 200
    assert hosts == ["rebound.example"]


def test_the_next_address_is_tried_where_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.2", "127.0.0.1"])  # the agent listens on the second alone

    with agent(fake.answers()) as running:
        assert post(running.url.replace("127.0.0.1", "two.example"), limit=1000).status == 200


@pytest.mark.parametrize("host", ["169.254.169.254", "168.63.129.16", "[fe80::1]", "[::ffff:a9fe:a9fe]", "0.0.0.0"])
def test_a_configured_agent_never_resolves_to_metadata(host: str) -> None:
    """The operator names the agent, but its own DNS says where that is."""
    with pytest.raises(AddressRefused):
        post(f"http://{host}:1/")


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A certificate for right.example and this machine's address that counts as trusted."""
    made = fake.self_signed(tmp_path, "right.example", "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(made))
    client._tls.cache_clear()
    yield made
    client._tls.cache_clear()


def test_the_name_of_the_address_is_what_tls_verifies(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The socket goes to a checked address, and the certificate still has to be the name's."""
    resolving(monkeypatch, ["127.0.0.1"])

    with agent(fake.answers(), certificate=trusted) as running:
        assert post(running.url.replace("127.0.0.1", "right.example"), limit=1000).status == 200
        with pytest.raises(ExchangeFailed):
            post(running.url.replace("127.0.0.1", "wrong.example"))
    assert len(running.calls) == 1


def starts_to_answer(sock: Any, call: fake.Call, running: fake.Agent) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")
    fake.hangs(sock, call, running)


HANGS = {"before the head": fake.hangs, "in the body": starts_to_answer, "dripping": fake.drips}


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("behaviour", HANGS.values(), ids=HANGS)
@pytest.mark.parametrize("why", ["deadline", "shutdown"])
def test_whatever_hangs_is_left(
    behaviour: fake.Behaviour, why: str, encrypted: bool, trusted: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Whoever hangs here does so for half a minute, and then breaks off, which is no `TimedOut`."""
    settings.SHUTDOWN_GRACE_SECONDS = 0.2
    monkeypatch.setattr(sockets, "shutdown", ending := Shutdown())

    def after_the_request(sock: Any, call: fake.Call, running: fake.Agent) -> None:
        if why == "shutdown":
            ending.begin()
        behaviour(sock, call, running)

    hanging = agent(after_the_request, certificate=trusted if encrypted else None)
    with hanging as running, pytest.raises(TimedOut) as raised:
        post(running.url, seconds=1 if why == "deadline" else 3600)

    assert raised.value.may_have_arrived


@contextmanager
def silent() -> Iterator[int]:
    """A port whose connections nobody takes, and which breaks them off in the end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        end = threading.Timer(MOST_SECONDS, listening.close)
        end.start()
        yield int(listening.getsockname()[1])
        end.cancel()


@pytest.mark.parametrize("why", ["deadline", "shutdown"])
def test_a_handshake_that_nobody_answers_is_left(why: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.SHUTDOWN_GRACE_SECONDS = 0.2
    monkeypatch.setattr(sockets, "shutdown", ending := Shutdown())
    connecting = Client(may_reach=addresses.is_host, connect_seconds=0.5 if why == "deadline" else 3600)
    with silent() as port:
        if why == "shutdown":
            threading.Timer(0.2, ending.begin).start()
        with pytest.raises(TimedOut) as raised:
            connecting.post(f"https://127.0.0.1:{port}/", b"", headers={}, seconds=3600, limit=1)

    assert not raised.value.may_have_arrived


def test_an_address_that_takes_no_connection_is_left() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        with pytest.raises(TimedOut) as raised:
            post(f"http://127.0.0.1:{port}/", seconds=0.5)
        for each in waiting:
            each.close()

    assert not raised.value.may_have_arrived


def test_a_body_that_nobody_takes_is_left() -> None:
    with silent() as port, pytest.raises(TimedOut) as raised:
        post(f"http://127.0.0.1:{port}/", seconds=1, body=b"0" * 50_000_000)

    assert raised.value.may_have_arrived


HEADERS = b"".join(b"X-%d: %b\r\n" % (number, b"0" * 60_000) for number in range(50))  # as http.client allows
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
FLOODS = {
    "head": (b"HTTP/1.1 200 OK\r\n" + HEADERS + b"Content-Length: 2\r\n\r\n{}", 0),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + b"0" * 101, 100),
    "chunks": (CHUNKED + b"65\r\n" + b"0" * 101 + b"\r\n0\r\n\r\n", 100),
    "the size of a chunk": (CHUNKED + b"2;" + b"0" * 1_000_000 + b"\r\n{}\r\n0\r\n\r\n", 100),
    "what follows the chunks": (CHUNKED + b"2\r\n{}\r\n0\r\n" + b"X: 0\r\n" * 200_000 + b"\r\n", 100),
}


@pytest.mark.parametrize(("answer", "limit"), FLOODS.values(), ids=FLOODS)
def test_what_is_larger_than_its_limit_is_no_answer(answer: bytes, limit: int) -> None:
    with agent(fake.sends(answer)) as running, pytest.raises(InvalidAnswer):
        post(running.url, limit=limit)


@pytest.mark.parametrize("limit", [100, 1000])
def test_a_body_in_the_smallest_chunks_may_have_all_its_limit(limit: int) -> None:
    with agent(fake.sends(CHUNKED + b"1\r\n0\r\n" * limit + b"0\r\n\r\n")) as running:
        assert post(running.url, limit=limit) == Answer(200, b"0" * limit)


def test_no_more_is_read_than_is_wanted() -> None:
    def behave(connection: socket.socket, call: fake.Call, running: fake.Agent) -> None:
        connection.sendall(CHUNKED + b"1\r\na\r\n1\r\nb\r\n")
        fake.hangs(connection, call, running)

    pieces: list[bytes] = []
    made = Client(may_reach=addresses.is_host, keeps=True)
    with agent(behave) as running:
        for _ in range(2):
            answer = made.post(
                running.url, b"{}", headers={}, seconds=MOST_SECONDS, limit=100,
                until=lambda piece: pieces.append(piece) is not None or pieces[-1] == b"b",
            )  # fmt: skip
            assert answer == Answer(200, b"ab")
        assert (pieces, running.connections) == ([b"a", b"b"] * 2, 2)


def test_pieces_are_handed_on_as_they_come_whatever_ends_the_body() -> None:
    def behave(connection: socket.socket, call: fake.Call, running: fake.Agent) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nab")
        fake.hangs(connection, call, running)

    made = Client(may_reach=addresses.is_host)
    with agent(behave) as running:
        answer = made.post(
            running.url, b"{}", headers={}, seconds=5, limit=100, until=lambda piece: piece.endswith(b"b")
        )
    assert answer == Answer(200, b"ab")


@pytest.mark.parametrize("what_came", [b"", b"2\r\n{}\r\n", b"2\r\n{"])
def test_chunks_without_an_end_are_a_cut(what_came: bytes) -> None:
    def behave(connection: socket.socket, call: fake.Call, running: fake.Agent) -> None:
        connection.sendall(CHUNKED + what_came)
        connection.shutdown(socket.SHUT_RDWR)

    with agent(behave) as running, pytest.raises(ExchangeFailed) as failed:
        post(running.url, limit=100)
    assert failed.type is ExchangeFailed


def test_a_redirect_is_an_answer_like_another() -> None:
    moved = fake.answers_with(fake.result_of, status="302 Found", location="http://127.0.0.1:1/")
    with agent(moved) as running:
        assert post(running.url) == Answer(302, b"")
    assert len(running.calls) == 1


def test_connections_are_kept_where_wanted_and_while_they_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    for keeps, idle in ((True, 10.0), (True, 0.0), (False, 10.0)):
        monkeypatch.setattr(client, "_IDLE", idle)
        made = Client(may_reach=addresses.is_host, keeps=keeps)
        with agent(fake.answers()) as running:
            for _ in range(3):
                made.post(running.url, b'{"id": 1}', headers={}, seconds=5, limit=1000)
        counted.append(running.connections)

    assert counted == [1, 3, 3]


def test_what_caused_a_request_goes_along() -> None:
    made = Client(may_reach=addresses.is_host)
    with agent(fake.answers()) as running, request_ids.following("cause-of-it"):
        made.post(running.url, b'{"id": 1}', headers={}, seconds=5, limit=1000)
        made.post(running.url, b'{"id": 1}', headers={"X-Request-Id": "own-cause"}, seconds=5, limit=1000)

    assert [call.headers["x-request-id"] for call in running.calls] == ["cause-of-it", "own-cause"]
