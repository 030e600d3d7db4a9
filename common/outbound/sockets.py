"""Sockets that keep the bounds of a request, so that no layer above them can wait, or read, around them."""

import errno
import os
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from common.outbound.failures import AddressRefused, ExchangeFailed, InvalidAnswer, TimedOut
from common.shutdown import shutdown

HEAD = 64 * 1024  # bytes of an answer before its body

MayReach = Callable[[str], bool]
_Done = TypeVar("_Done")


class Exchange:
    """The bounds of the request that a thread has under way, for the sockets to keep."""

    def __init__(self, may_reach: MayReach, connect_seconds: float, seconds: float, *, only_status: bool) -> None:
        self.may_reach = may_reach
        self.only_status = only_status
        self.may_still_come = HEAD
        self.has_sent = False
        self._ends_at = time.monotonic() + seconds
        self._connects_by = min(self._ends_at, time.monotonic() + connect_seconds)

    def left(self, *, connecting: bool = False) -> float:
        """Seconds; raises `TimedOut` where there are none, by the deadline or by the grace of this process."""
        ends_at = self._connects_by if connecting else self._ends_at
        left = min(ends_at - time.monotonic(), shutdown.time_left())
        if left <= 0:
            raise TimedOut
        return left

    def wait_for(self, sock: socket.socket, event: int, *, connecting: bool) -> None:
        """Return once the socket is ready; raises `TimedOut`."""
        waiting = select.poll()
        waiting.register(sock, event)
        waiting.register(shutdown.cut_descriptor, select.POLLIN)
        ready = waiting.poll(self.left(connecting=connecting) * 1000)
        if sock.fileno() not in {descriptor for descriptor, _ in ready}:
            raise TimedOut


current: ContextVar[Exchange] = ContextVar("exchange")


class _Socket(socket.socket):
    """Never blocks by itself: each operation waits as long as the exchange may, whatever timeout was set."""

    used_at = 0.0  # when something last came, by the monotonic clock

    def connect(self, address: Any) -> None:
        self.setblocking(False)
        code = self.connect_ex(address)
        if code == errno.EINPROGRESS:
            current.get().wait_for(self, select.POLLOUT, connecting=True)
            code = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        self.setblocking(True)  # or TLS would not begin on it

    def recv_into(self, *args: Any) -> int:
        exchange = current.get()
        if exchange.may_still_come <= 0:
            raise InvalidAnswer
        try:
            count = self._done(super().recv_into, *args, event=select.POLLIN)
        except TimedOut:
            if exchange.only_status:
                return 0
            raise
        exchange.may_still_come -= count
        self.used_at = time.monotonic()
        return count

    def send(self, *args: Any) -> int:
        current.get().has_sent = True
        return self._done(super().send, *args, event=select.POLLOUT)

    def sendall(self, data: Any, flags: int = 0) -> None:
        with memoryview(data) as view, view.cast("B") as rest:
            sent = 0
            while sent < len(rest):
                sent += self.send(rest[sent:], flags)

    def _done(self, operation: Callable[..., _Done], *args: Any, event: int, connecting: bool = False) -> _Done:
        current.get().left(connecting=connecting)
        if self.gettimeout() != 0:
            self.setblocking(False)
        while True:
            try:
                return operation(*args)
            except ssl.SSLWantReadError:
                awaited = select.POLLIN
            except ssl.SSLWantWriteError:
                awaited = select.POLLOUT
            except BlockingIOError:
                awaited = event
            current.get().wait_for(self, awaited, connecting=connecting)


class TlsSocket(_Socket, ssl.SSLSocket):
    def do_handshake(self, block: bool = False) -> None:
        try:
            self._done(super().do_handshake, event=select.POLLIN, connecting=True)
        except ExchangeFailed:
            self.close()  # the standard library does so for its own errors alone
            raise


def connected(host: str, port: int, options: Iterable[tuple[Any, ...]]) -> socket.socket:
    """A connection to the first address that takes one, if each of them may be reached."""
    exchange = current.get()
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not found or not all(exchange.may_reach(str(place[0])) for *_, place in found):
        raise AddressRefused
    last: OSError | None = None
    for family, kind, protocol, _, place in found:
        sock = _Socket(family, kind, protocol)
        try:
            for option in options:
                sock.setsockopt(*option)
            sock.connect(place)
        except (OSError, TimedOut) as error:
            sock.close()
            if isinstance(error, TimedOut):
                raise
            last = error
        else:
            return sock
    raise last or AddressRefused
