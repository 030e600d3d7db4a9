"""Upstream agents on real sockets that behave as badly as real ones do: they hang, drip, cut off, redirect, flood."""

import contextlib
import datetime
import ipaddress
import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fakes.serving import serving

CANARY = "canary-of-the-upstream"  # in every header and failure text; no caller may ever see it


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: dict[str, Any]


class Speech(StrEnum):
    """What an upstream speaks, the revision of A2A with it, which its card tells."""

    TASKS_SEND = "tasks-send"
    A2A_0_3 = "0.3"
    A2A_1_0 = "1.0"

    @property
    def protocol(self) -> str:
        return "tasks-send" if self is Speech.TASKS_SEND else "a2a"


Behaviour = Callable[[socket.socket, Call, "Agent"], None]


@dataclass
class Agent:
    """A running upstream: what it was asked, and until when it holds what hangs."""

    url: str
    calls: list[Call] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    connections: int = 0

    @property
    def prompts(self) -> list[Call]:
        """The requests without those for the agent's card."""
        return [call for call in self.calls if call.line.startswith("POST ")]


@contextlib.contextmanager
def agent(behaviour: Behaviour, *, certificate: Path | None = None) -> Iterator[Agent]:
    """An upstream that answers every request with `behaviour`, until the block ends."""
    running = Agent(url="")
    kept: list[socket.socket] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            running.connections += 1
            connection = self.request
            kept.append(connection)
            with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
                if certificate is not None:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(certificate)
                    connection = opened.enter_context(context.wrap_socket(connection, server_side=True))
                received = connection.makefile("rb")
                while (call := _read(received)) is not None:
                    running.calls.append(call)
                    behaviour(connection, call, running)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        request_queue_size = 512
        block_on_close = False

    try:
        with serving(Server(("127.0.0.1", 0), Handler)) as address:
            running.url = f"{address.replace('http', 'https') if certificate else address}/{CANARY}"
            try:
                yield running
            finally:
                running.released.set()
    finally:
        for connection in kept:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def with_card(behaviour: Behaviour, speech: Speech, **changes: Any) -> Behaviour:
    """The same agent with a card, for A2A. `changes` are members of it."""

    def behave(connection: socket.socket, call: Call, running: Agent) -> None:
        if call.line.startswith("POST "):
            behaviour(connection, call, running)
        else:
            card = {**card_of(running.url, speech), **changes}
            connection.sendall(http("200 OK", json.dumps(card).encode()))

    return behave


def card_of(url: str, speech: Speech) -> dict[str, Any]:
    """An agent card with what a client needs of it."""
    if speech is Speech.A2A_1_0:
        offered = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return {"name": CANARY, "capabilities": {}, "supportedInterfaces": [offered]}
    return {"name": CANARY, "capabilities": {}, "url": url, "protocolVersion": "0.3.0"}


def _read(received: Any) -> Call | None:
    line = received.readline().decode("latin-1").strip()
    if not line:
        return None
    headers = {}
    while head := received.readline().decode("latin-1").strip():
        name, _, value = head.partition(":")
        headers[name.lower()] = value.strip()
    body = received.read(int(headers.get("content-length", "0")))
    return Call(line, headers, json.loads(body or b"{}"))


def http(status: str, body: bytes, **headers: str) -> bytes:
    """An HTTP answer with its length, and with headers that tell what nobody should hear."""
    sent = {"content-type": "application/json", "content-length": str(len(body)), "server": CANARY, "x-secret": CANARY}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def result_of(call: Call, text: str = '{"age": 30}') -> dict[str, Any]:
    """A reply in the specification's shape."""
    message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": call.body["id"], "result": {"status": {"state": "completed", "message": message}}}


def answers(text: str = '{"age": 30}', *, after: float = 0.0) -> Behaviour:
    """What a good agent does."""

    def behave(connection: socket.socket, call: Call, running: Agent) -> None:
        running.released.wait(after)
        connection.sendall(http("200 OK", json.dumps(result_of(call, text)).encode()))

    return behave


def answers_with(make: Callable[[Call], Any], *, status: str = "200 OK", **headers: str) -> Behaviour:
    """An answer made of the request; bytes go out as they are, anything else as JSON."""

    def behave(connection: socket.socket, call: Call, running: Agent) -> None:
        made = make(call)
        body = made if isinstance(made, bytes) else json.dumps(made).encode()
        connection.sendall(http(status, body, **headers))

    return behave


def sends(raw: bytes) -> Behaviour:
    """Exactly these bytes, and the end of the connection."""

    def behave(connection: socket.socket, call: Call, running: Agent) -> None:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_RDWR)

    return behave


def hangs(connection: socket.socket, call: Call, running: Agent) -> None:
    """Never answers."""
    running.released.wait(30)


def drips(connection: socket.socket, call: Call, running: Agent) -> None:
    """Answers one byte at a time, each well before any timeout of a single read."""
    answer = http("200 OK", json.dumps(result_of(call, "x" * 20_000)).encode())
    for start in range(len(answer)):
        if running.released.wait(0.05):
            return
        connection.sendall(answer[start : start + 1])


def drips_headers(connection: socket.socket, call: Call, running: Agent) -> None:
    """Goes on with one more header for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not running.released.wait(0.05):
        connection.sendall(b"x: y\r\n")


def drips_informational(connection: socket.socket, call: Call, running: Agent) -> None:
    """Says that one should continue, for ever."""
    while not running.released.wait(0.02):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def resets(connection: socket.socket, call: Call, running: Agent) -> None:
    """Ends the connection with a reset instead of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    socket.close(connection.detach())  # at once, whatever else still reads it


def cuts_off(connection: socket.socket, call: Call, running: Agent) -> None:
    """Promises more than it sends."""
    connection.sendall(http("200 OK", b'{"jsonrpc": "2.0"', content_length="5000"))
    connection.shutdown(socket.SHUT_RDWR)


def floods(mebibytes: int, *, chunked: bool = False) -> Behaviour:
    """So much that nobody should read it; `chunked` does not say so beforehand."""

    def behave(connection: socket.socket, call: Call, running: Agent) -> None:
        piece = b"a" * 65536
        opening = b'{"jsonrpc": "2.0", "result": "'
        length = "" if chunked else str(mebibytes * 2**20)
        head = http("200 OK", b"", content_length=length, transfer_encoding="chunked" if chunked else "")
        connection.sendall(head)
        for number in range(mebibytes * 16):
            data = opening if number == 0 else piece
            connection.sendall(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        connection.shutdown(socket.SHUT_RDWR)

    return behave


_closed: list[socket.socket] = []


def closed_port() -> str:
    """An address at which nobody listens, for as long as this process runs."""
    if not _closed:
        _closed.append(socket.socket())
        _closed[0].bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{_closed[0].getsockname()[1]}/{CANARY}"


def self_signed(folder: Path, *names: str) -> Path:
    """A certificate that nobody has a reason to trust, with its key, in one file; for `names`, addresses among them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, CANARY)])
    now = datetime.datetime.now(datetime.UTC)
    alternatives = [
        x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name) for name in names
    ]
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    path = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path
