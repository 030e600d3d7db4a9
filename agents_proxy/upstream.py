"""One call to an upstream: once, bounded in time and size, over pooled connections.

The time is a deadline for everything, however slowly the answer drips: every read of the socket gets what is left of
it. Nothing is repeated, since a prompt may have taken effect. What an upstream or the network says in its failure
stays here; a caller learns which of three kinds it was. Where this process is about to end, the deadline is the end of
its grace at the latest, and who waits for a socket then is woken.
"""

import http.client
import io
import select
import socket
import ssl
import time
from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    InvalidHeader,
    NewConnectionError,
    ProtocolError,
)
from urllib3.exceptions import TimeoutError as TimedOut

from agents_proxy.agents import Protocol, Upstream
from agents_proxy.envelope import Prompt, Reply, read, written
from agents_proxy.errors import CallFailed, InvalidAgentResponse, UpstreamTimeout
from common import outbound, tracing
from common.shutdown import shutdown

LIMIT = 1024 * 1024  # bytes of an answer
_CONNECT = 3.0  # seconds
_IDLE = 10.0  # seconds after which a kept connection is not trusted any more: a POST cannot be sent twice
_CHUNK = 64 * 1024
_CONNECTIONS = 1000  # kept, per upstream
_deadline: ContextVar[float] = ContextVar("deadline")


def call(upstream: Upstream, prompt: Prompt) -> Reply:
    """What the agent answered to `prompt`; raises `CallFailed` or one of its kinds."""
    headers = {"X-Request-Id": tracing.current() or tracing.new()}
    if upstream.token:
        headers["Authorization"] = f"Bearer {upstream.token}"
    if upstream.protocol is Protocol.SEND_MESSAGE:
        headers["A2A-Version"] = "1.0"
    status, body = post(
        upstream.url, written(prompt, upstream.protocol), headers=headers, timeout=upstream.timeout, limit=LIMIT
    )
    return _reply(status, body, prompt.task_id)


def post(url: str, body: bytes, *, headers: Mapping[str, str], timeout: float, limit: int) -> tuple[int, bytes]:
    """The status of one POST of JSON and at most `limit` bytes of its answer, all of it within `timeout` seconds.

    Raises `CallFailed` or one of its kinds; a redirect is not followed, and no answer.
    """
    token = _deadline.set(time.monotonic() + timeout)
    try:
        return _exchange(url, body, headers, timeout, limit)
    except _TIMEOUTS as error:
        if isinstance(error, NewConnectionError):  # urllib3 counts it among the timeouts
            raise CallFailed from None
        raise UpstreamTimeout from None
    except ProtocolError as error:
        raise _broken(error) from None
    except (DecodeError, InvalidHeader, http.client.HTTPException, UnicodeError):
        raise InvalidAgentResponse from None
    except (HTTPError, OSError):
        raise CallFailed from None
    finally:
        _deadline.reset(token)


_TIMEOUTS = (TimedOut, ConnectTimeoutError, TimeoutError)
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}


def _exchange(url: str, body: bytes, headers: Mapping[str, str], timeout: float, limit: int) -> tuple[int, bytes]:
    response = _pool().urlopen(
        "POST",
        url,
        body=body,
        headers={**_HEADERS, **headers},
        redirect=False,
        retries=False,
        preload_content=False,
        timeout=urllib3.Timeout(connect=min(_CONNECT, timeout), read=timeout),
    )
    whole = False
    try:
        if 300 <= response.status < 400:
            raise InvalidAgentResponse
        answer = _body(response, limit)
        whole = True
    finally:
        # what was not read to its end is not drained but cut off
        if whole:
            response.release_conn()
        else:
            response.close()
    return response.status, answer


def _body(response: urllib3.BaseHTTPResponse, limit: int) -> bytes:
    """The bytes of the answer as they came; raises as soon as they are too many."""
    if int(response.length_remaining or 0) > limit:
        raise InvalidAgentResponse
    received = bytearray()
    for chunk in response.stream(_CHUNK, decode_content=False):
        received += chunk
        if len(received) > limit:
            raise InvalidAgentResponse
    return bytes(received)


def _reply(status: int, body: bytes, task_id: str) -> Reply:
    try:
        return read(body, task_id)
    except InvalidAgentResponse:
        if 200 <= status < 300 or (body.lstrip()[:1] == b"{" and b'"jsonrpc"' in body):
            raise
        raise CallFailed from None


def _broken(error: ProtocolError) -> CallFailed:
    """Cut off, or not HTTP at all."""
    causes = [cause for cause in (*error.args, error.__cause__, error.__context__) if isinstance(cause, Exception)]
    if any(isinstance(cause, (OSError, http.client.IncompleteRead)) for cause in causes):
        return CallFailed()
    return InvalidAgentResponse()


def _remaining() -> float:
    left = min(_deadline.get() - time.monotonic(), shutdown.time_left())
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


def _wait_for(sock: socket.socket) -> None:
    """Return once there is something to read; raises where the deadline or the grace of this process ends before."""
    if isinstance(sock, ssl.SSLSocket) and sock.pending():
        return
    waiting = select.poll()
    waiting.register(sock, select.POLLIN)
    waiting.register(shutdown.cut_descriptor, select.POLLIN)
    if sock.fileno() not in {descriptor for descriptor, _ in waiting.poll(_remaining() * 1000)}:
        raise TimeoutError("the deadline has passed")


class _UntilDeadline(io.RawIOBase):
    """Reads a socket, giving each read only the time that is left of the call."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        _wait_for(self._sock)
        self._sock.settimeout(_remaining())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An answer whose status line, headers and body all come before the deadline."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_UntilDeadline(sock), _CHUNK)


class _KeptBriefly:
    """Of a kept connection: it counts as dropped once it was idle for long."""

    used_at: float | None = None

    @property
    def is_connected(self) -> bool:
        idle = time.monotonic() - self.used_at if self.used_at is not None else 0.0
        return idle < _IDLE and bool(super().is_connected)  # type: ignore[misc]  # the connection that this is mixed into

    def getresponse(self) -> Any:
        response = super().getresponse()  # type: ignore[misc]  # as above
        self.used_at = time.monotonic()
        return response


class _Plain(_KeptBriefly, outbound.ToHost):
    response_class = _Response


class _Encrypted(_KeptBriefly, outbound.ToHostTls):
    response_class = _Response


@lru_cache(maxsize=1)
def _pool() -> urllib3.PoolManager:
    pool = urllib3.PoolManager(num_pools=32, maxsize=_CONNECTIONS, block=False)
    pool.pool_classes_by_scheme = outbound.pools(_Plain, _Encrypted)
    return pool
