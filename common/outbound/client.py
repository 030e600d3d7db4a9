"""The one client for requests to other servers: bounded in where they go, how long they take and how much comes back.

- Where: every address that the name resolves to is checked before a packet leaves, so nobody learns from the time that
  a refusal takes whether a port inside is open; what is connected to is what was checked, so a name that resolves
  differently a moment later changes nothing. No redirect is followed, no proxy of the environment is used.
- How long: one deadline for connecting, TLS, head and body, however slowly the other side drips. The end of this
  process's grace is a deadline, too. Resolving the name alone takes as long as the system's resolver lets it.
- How much: the head and the body each have a limit, counted as the bytes arrive.

A request is sent once: nothing is repeated, since the first one may have taken effect. What the other side or the
network says in a failure stays here; a caller learns its kind, and whether the request may have arrived.

The bounds stand in the sockets (sockets.py), where no layer above can wait around them. urllib3 does the rest.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any
from uuid import uuid4

import urllib3
from django.conf import settings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import DecodeError, HTTPError, InvalidHeader, ProtocolError
from urllib3.util import create_urllib3_context, parse_url

from common import addresses, request_ids
from common.outbound.failures import AddressRefused, ExchangeFailed, InvalidAnswer, TimedOut
from common.outbound.sockets import Exchange, MayReach, TlsSocket, connected, current

_FRAMING = 6  # bytes on the wire for one of the body, where each comes in a chunk of its own
_CHUNK = 64 * 1024
_IDLE = 10.0  # seconds after which a kept connection is not trusted any more: a POST cannot be sent twice
_HOSTS, _CONNECTIONS = 32, 1000  # that connections are kept to, and how many to each


@dataclass(frozen=True)
class Answer:
    """The status, the body as it came, and the headers by their names in lower case; a redirect's body is not read."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)


def chosen_by_app(address: str) -> bool:
    """Which addresses an app, or anybody from outside, may have this server send to."""
    return settings.WEBHOOK_INTERNAL_ADDRESSES or addresses.is_public(address)


class Client:
    """Sends to addresses that `may_reach` allows, over a connection of its own each time unless it `keeps` them."""

    def __init__(self, *, may_reach: MayReach, connect_seconds: float = 3.0, keeps: bool = False) -> None:
        self._may_reach = may_reach
        self._connect_seconds = connect_seconds
        self._keeps = keeps

    def post(
        self,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str],
        seconds: float,
        limit: int,
        until: Callable[[bytes], bool] | None = None,
    ) -> Answer:
        """The answer to one POST of JSON, with at most `limit` bytes of body, all within `seconds`.

        With a limit of 0 the status alone is wanted: no body is read, and once there is a status, the end of the time
        is the end of the answer. `until` is given each piece of the body as it arrives, and no more is read once it
        says so. Raises `ExchangeFailed` or one of its kinds.
        """
        written = {"Content-Type": "application/json", **headers}
        return self._sent("POST", url, body, written, seconds, limit, until)

    def get(self, url: str, *, headers: Mapping[str, str], seconds: float, limit: int) -> Answer:
        """The same for one GET."""
        return self._sent("GET", url, None, headers, seconds, limit)

    def _sent(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        seconds: float,
        limit: int,
        until: Callable[[bytes], bool] | None = None,
    ) -> Answer:
        exchange = Exchange(self._may_reach, self._connect_seconds, seconds, only_status=limit == 0)
        token = current.set(exchange)
        try:
            with self._pools() as pools:
                response = _opened(pools, method, url, body, headers)
                try:
                    return _answer(response, limit, until)
                finally:
                    # what was read to its end is back in its pool; any other connection is cut off, not drained
                    response.close()
        except (ExchangeFailed, HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            # not by a name of this frame, which its traceback would hold in a circle, with all that was received
            raise _failed(error, may_have_arrived=exchange.has_sent) from None
        finally:
            current.reset(token)

    def _pools(self) -> AbstractContextManager[urllib3.PoolManager]:
        return nullcontext(self._kept_pools) if self._keeps else _pools()

    @cached_property
    def _kept_pools(self) -> urllib3.PoolManager:
        return _pools()


def _opened(
    pools: urllib3.PoolManager, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
) -> urllib3.BaseHTTPResponse:
    if parse_url(url).scheme not in ("http", "https"):
        raise AddressRefused  # urllib3 would take an address without a scheme as one of http
    written = {
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        request_ids.HEADER: request_ids.current() or uuid4().hex,
        **headers,
    }
    return pools.urlopen(method, url, body=body, headers=written, redirect=False, retries=False, preload_content=False)


def _answer(response: urllib3.BaseHTTPResponse, limit: int, until: Callable[[bytes], bool] | None) -> Answer:
    is_redirect = 300 <= response.status < 400
    body = b"" if is_redirect else _body(response, limit, until)
    return Answer(response.status, body, {name.lower(): value for name, value in response.headers.items()})


def _body(response: urllib3.BaseHTTPResponse, limit: int, until: Callable[[bytes], bool] | None) -> bytes:
    if limit == 0:
        return b""
    if int(response.length_remaining or 0) > limit:
        raise InvalidAnswer
    current.get().may_still_come += _FRAMING * limit
    received = bytearray()
    # piece by piece as they come: `stream` would wait for a whole chunk, and take a cut between two for an answer
    for chunk in iter(lambda: response.read1(_CHUNK, decode_content=False), b""):
        received += chunk
        if len(received) > limit:
            raise InvalidAnswer
        if until is not None and until(chunk):
            break
    return bytes(received)


def _failed(error: Exception, *, may_have_arrived: bool) -> ExchangeFailed:
    failure = _failure(error)
    failure.may_have_arrived = may_have_arrived
    return failure


def _failure(error: Exception) -> ExchangeFailed:
    if isinstance(error, ExchangeFailed):
        return error
    if isinstance(error, (urllib3.exceptions.TimeoutError, TimeoutError)):
        return TimedOut()  # the system's own: what is raised here is an `ExchangeFailed` already
    if isinstance(error, ProtocolError):
        causes = (*error.args, error.__cause__, error.__context__)
        is_cut_off = any(isinstance(cause, (OSError, http.client.IncompleteRead)) for cause in causes)
        return ExchangeFailed() if is_cut_off else InvalidAnswer()
    if isinstance(error, (DecodeError, InvalidHeader, http.client.HTTPException)):
        return InvalidAnswer()
    return ExchangeFailed()


class _Connection:
    """Mixed into urllib3's connections.

    `_new_conn` is private to urllib3, and the one thing here that is: nothing public says how a socket is made. It is
    where urllib3's own SOCKS support and requests' toolbelt do so.
    """

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        return connected(connection.host.strip("[]"), connection.port, connection.socket_options or ())

    @property
    def is_connected(self) -> bool:
        """A kept connection counts as dropped once it was idle for long."""
        connection: Any = self
        fresh = connection.sock is not None and time.monotonic() - connection.sock.used_at < _IDLE
        return fresh and bool(super().is_connected)  # type: ignore[misc]  # the connection that this is mixed into


class _Plain(_Connection, HTTPConnection):
    pass


class _Encrypted(_Connection, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _EncryptedPool(HTTPSConnectionPool):
    ConnectionCls = _Encrypted


def _pools() -> urllib3.PoolManager:
    pools = urllib3.PoolManager(num_pools=_HOSTS, maxsize=_CONNECTIONS, block=False, ssl_context=_tls())
    pools.pool_classes_by_scheme = {"http": _PlainPool, "https": _EncryptedPool}
    return pools


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Read once, as reading the system's certificates takes longer than a call."""
    context = create_urllib3_context()
    context.load_default_certs()
    context.sslsocket_class = TlsSocket
    return context
