"""Sending one webhook: signed as Standard Webhooks say, to a public address, without following anything.

The peer's address is checked on the connected socket, not before: a name that resolves differently a moment later
changes nothing. Nothing of the answer but its status is read, and however slowly that drips, after ANSWER_SECONDS the
connection is cut.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import requests
from django.conf import settings
from requests.adapters import HTTPAdapter
from standardwebhooks.webhooks import Webhook
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from accounts.database import rfc3339

CONNECT_SECONDS, ANSWER_SECONDS = 5, 15


class InternalAddress(OSError):
    """The endpoint's name led to an address that is not on the public internet."""


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt: the status of the answer, or why there was none."""

    status_code: int | None
    failure: str = ""

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def gone(self) -> bool:
        """The receiver says that this address will never take webhooks again."""
        return self.status_code == 410


def send(*, url: str, secret: str, message_id: str, kind: str, at: datetime, data: dict[str, Any]) -> Outcome:
    """One attempt to deliver one notice. Never raises: whatever goes wrong is the outcome."""
    body = orjson.dumps({"type": kind, "timestamp": rfc3339(at), "data": data})
    now = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Consent-Runtime-Webhooks",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(message_id, now, body.decode()),
    }
    with _cut_off_after(ANSWER_SECONDS) as line:
        try:
            with (
                _session() as session,
                session.post(
                    url,
                    data=body,
                    headers=headers,
                    timeout=(CONNECT_SECONDS, ANSWER_SECONDS),
                    allow_redirects=False,
                    stream=True,
                ) as answer,
            ):
                return Outcome(answer.status_code, _said(answer.status_code))
        except (requests.RequestException, HTTPError, OSError, UnicodeError, ValueError) as error:
            return Outcome(None, _LATE if line.is_cut else _why(error))


class _Line:
    """The connection of one attempt, held by a second descriptor: TLS takes the first one over."""

    def __init__(self) -> None:
        self.twin: socket.socket | None = None
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True
        if self.twin is not None:
            with suppress(OSError):
                self.twin.shutdown(socket.SHUT_RDWR)


_line: ContextVar[_Line] = ContextVar("line")


@contextmanager
def _cut_off_after(seconds: float) -> Iterator[_Line]:
    line = _Line()
    token, timer = _line.set(line), threading.Timer(seconds, line.cut)
    timer.start()
    try:
        yield line
    finally:
        timer.cancel()
        timer.join()  # it may be cutting just now
        _line.reset(token)
        if line.twin is not None:
            line.twin.close()


_LATE = "it did not answer in time"


def _said(status_code: int) -> str:
    if 300 <= status_code < 400:
        return "it redirects, which is not followed"
    return "" if 200 <= status_code < 300 else f"it answered {status_code}"


def _why(error: BaseException) -> str:
    """A reason in plain words, without addresses of our own network."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, InternalAddress):
            return "its address is not on the public internet"
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate cannot be verified"
    if isinstance(error, requests.Timeout):
        return _LATE
    return "it cannot be reached"


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False  # no proxy: it would connect where we cannot see
    adapter = _GuardedAdapter(max_retries=0)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def refuse_internal_peer(sock: socket.socket) -> None:
    """Close a connection whose other end is not a public address, before a byte is sent."""
    address = ipaddress.ip_address(sock.getpeername()[0].split("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or address
    if not mapped.is_global or mapped.is_multicast:
        if settings.WEBHOOK_INTERNAL_ADDRESSES:
            return
        sock.close()
        raise InternalAddress("the peer is not on the public internet")


def _guarded(connect: Callable[[Any], socket.socket]) -> Callable[[Any], socket.socket]:
    def new_connection(connection: Any) -> socket.socket:
        sock = connect(connection)
        refuse_internal_peer(sock)
        _line.get().twin = sock.dup()
        return sock

    return new_connection


class _PlainConnection(HTTPConnection):
    _new_conn = _guarded(HTTPConnection._new_conn)


class _TlsConnection(HTTPSConnection):
    _new_conn = _guarded(HTTPSConnection._new_conn)


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _GuardedAdapter(HTTPAdapter):
    """requests' adapter whose connections look at whom they reached."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _TlsPool}
