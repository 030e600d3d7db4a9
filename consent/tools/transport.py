"""Runs the official MCP SDK, which is asynchronous, inside a synchronous Django view.

Each process has one event loop, and on it one session manager of the SDK. The threads that serve requests take turns at
running that loop, under a lock and only for as long as the SDK works on their message. Whatever blocks, such as a
tool's reads of the database, is called between two such turns by the thread that serves the request: ordinary
synchronous code, with the database connection of its thread. A tool that waits therefore holds up no other call.
"""

import asyncio
import atexit
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

logging.getLogger("mcp").setLevel(logging.WARNING)  # below that it tells of every start of a session manager

Result = TypeVar("Result")
Function = Callable[[], Any]
Pause = asyncio.Future[Function | None]  # done with the function to call, or with None at the end of an exchange

_EXCHANGE = "consent.exchange"  # where the ASGI scope holds it
# the view has decided who may call, and from which origin, before a message gets here
_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)
# A turn takes the SDK about a millisecond and waits for nothing; one that does is a defect, and must not hold the lock.
_LONGEST_TURN = 5.0  # seconds


@dataclass(frozen=True)
class Response:
    """What the SDK answered, as HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes


async def run_blocking(context: ServerRequestContext[Any, Any], function: Callable[[], Result]) -> Result:
    """What `function` returns or raises; the thread that serves the request calls it while no loop runs on it."""
    exchange: _Exchange = context.request.scope[_EXCHANGE]  # type: ignore[union-attr]  # every message comes by HTTP
    return await exchange.call(function)


class Transport:
    """Streamable HTTP of one MCP server, for synchronous callers on any number of threads."""

    def __init__(self, server: Server[Any], *, longest_turn: float = _LONGEST_TURN) -> None:
        self._server = server
        self._longest_turn = longest_turn
        self._lock = Lock()  # whoever has it runs the loop
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._open_session()
        atexit.register(self.close)

    def post(self, *, headers: Mapping[str, str], body: bytes, extra: Mapping[str, Any]) -> Response:
        """The answer to one POST; `extra` is added to the ASGI scope, where handlers find it."""
        exchange = _Exchange(self._loop, headers, body, extra)
        try:
            function = self._turn(partial(self._start, exchange))
            while function is not None:
                function = self._turn(partial(exchange.resume, _outcome(function)))
        except BaseException:
            with self._lock:
                exchange.cancel()  # which the next turn carries out
            raise
        return exchange.response()

    def close(self) -> None:
        """End the session manager and the loop; no message is taken afterwards."""
        atexit.unregister(self.close)
        with self._lock:
            self._runner.close()

    def _turn(self, step: Callable[[], Pause]) -> Function | None:
        """Do `step` and run the loop until the exchange pauses; what it then wants called."""
        with self._lock:
            pause = step()
            expiry = self._loop.call_later(self._longest_turn, _expire, pause)
            try:
                return self._loop.run_until_complete(pause)
            finally:
                expiry.cancel()

    def _start(self, exchange: "_Exchange") -> Pause:
        if self._session.done():  # an error that escapes the SDK ends its manager, and with it earlier revisions
            self._open_session()
        return exchange.start(self._manager)

    def _open_session(self) -> None:
        """Make a session manager and start it; it cannot be started twice."""
        self._manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, security_settings=_CHECKED_BEFORE
        )
        started = self._loop.create_future()
        self._session = self._loop.create_task(_keep_open(self._manager, started))
        self._loop.run_until_complete(started)


async def _keep_open(manager: StreamableHTTPSessionManager, started: "asyncio.Future[None]") -> None:
    """Run the manager until this is cancelled; it has to be closed by the task that opened it."""
    async with manager.run():
        started.set_result(None)
        await asyncio.Event().wait()


class _Exchange:
    """One message and its answer. It pauses when a handler wants a function called, one at a time, and at its end."""

    _pause: Pause
    _returned: "asyncio.Future[Future[Any]]"

    def __init__(
        self, loop: asyncio.AbstractEventLoop, headers: Mapping[str, str], body: bytes, extra: Mapping[str, Any]
    ) -> None:
        self._loop = loop
        self._scope = {**_scope(headers), **extra, _EXCHANGE: self}
        self._received = [{"type": "http.request", "body": body, "more_body": False}]
        self._sent: list[Any] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, manager: StreamableHTTPSessionManager) -> Pause:
        """Begin; the first pause, which comes when the loop runs."""
        self._task = self._loop.create_task(self._handle(manager))
        return self._next_pause()

    def resume(self, outcome: "Future[Any]") -> Pause:
        """Hand over what the function came to; the next pause."""
        if not self._returned.done():  # cancelled, where the session manager ended meanwhile
            self._returned.set_result(outcome)
        return self._next_pause()

    def cancel(self) -> None:
        """End what is still under way."""
        if self._task is not None:
            self._task.cancel()

    async def call(self, function: Callable[[], Result]) -> Result:
        """For a handler: pause until `function` was called."""
        self._returned = self._loop.create_future()
        self._pause.set_result(function)
        outcome: Future[Result] = await self._returned
        return outcome.result()

    def _next_pause(self) -> Pause:
        self._pause = self._loop.create_future()
        if self._task is not None and self._task.done():
            self._pause.set_result(None)
        return self._pause

    def response(self) -> Response:
        """The answer, once all is done; raises what broke the SDK."""
        if self._task is not None and not self._task.cancelled():
            self._task.result()
        if not self._sent:
            raise RuntimeError("The exchange ended without an answer.")
        start, *parts = self._sent
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", [])}
        return Response(start["status"], headers, b"".join(part.get("body", b"") for part in parts))

    async def _handle(self, manager: StreamableHTTPSessionManager) -> None:
        try:
            await manager.handle_request(self._scope, self._receive, self._send)
        finally:
            if not self._pause.done():
                self._pause.set_result(None)

    async def _receive(self) -> Any:
        if self._received:
            return self._received.pop()
        return await asyncio.Event().wait()  # the caller does not hang up

    async def _send(self, message: Any) -> None:
        self._sent.append(message)


def _scope(headers: Mapping[str, str]) -> dict[str, Any]:
    """The ASGI scope of a POST with these headers."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    }


def _outcome(function: Function) -> "Future[Any]":
    """What `function` returned or raised."""
    outcome: Future[Any] = Future()
    try:
        outcome.set_result(function())
    except Exception as error:
        outcome.set_exception(error)
    return outcome


def _expire(pause: Pause) -> None:
    if not pause.done():
        pause.set_exception(TimeoutError("The exchange waits for something that does not come."))
