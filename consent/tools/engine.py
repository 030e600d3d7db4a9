"""Runs the protocol's SDK, which is asynchronous, inside a synchronous view: an exchange, on the thread that serves it.

Each exchange has an event loop and a session manager of its own and leaves nothing behind. The loop has no descriptors,
since an exchange never waits for one: what it waits for, the tool's own work, runs between two turns of the loop on the
same thread. So tools are ordinary synchronous code with this thread's database connection, and a tool that holds its
answer holds no more than the thread.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

logging.getLogger("mcp").setLevel(
    logging.WARNING
)  # it tells of every start and end, and there is one with each message

Result = TypeVar("Result")
# who may call is decided before an exchange begins
_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)


@dataclass(frozen=True)
class Answer:
    """What the SDK answered, as HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes


class Exchange:
    """One request of the protocol and its answer."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._loop = _QuietLoop()
        self._work: tuple[Callable[[], Any], asyncio.Future[Any]] | None = None

    async def outside(self, work: Callable[[], Result]) -> Result:
        """What `work` returns or raises, run on this thread while the loop rests."""
        future: asyncio.Future[Result] = self._loop.create_future()
        self._work = (work, future)
        self._loop.stop()
        return await future

    def run(self, *, headers: Mapping[str, str], body: bytes, extra: Mapping[str, Any]) -> Answer:
        """The answer to one POST; `extra` is added to the ASGI scope, where the handlers find it."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
            **extra,
        }
        try:
            return self._drive(self._serve(scope, body))
        finally:
            self._loop.close()

    def _drive(self, serving: Coroutine[Any, Any, Answer]) -> Answer:
        task = self._loop.create_task(serving)
        task.add_done_callback(lambda _: self._loop.stop())
        while True:
            self._loop.run_forever()
            if task.done():
                return task.result()
            if self._work is not None:
                (work, future), self._work = self._work, None
                _settle(work, future)

    async def _serve(self, scope: dict[str, Any], body: bytes) -> Answer:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return messages.pop() if messages else await self._loop.create_future()  # the caller stays

        async def send(message: Any) -> None:
            sent.append(message)

        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, security_settings=_CHECKED_BEFORE
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)
        return _answer(sent)


def _settle(work: Callable[[], Any], future: "asyncio.Future[Any]") -> None:
    try:
        result = work()
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _answer(sent: list[dict[str, Any]]) -> Answer:
    start, *rest = sent
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", [])}
    return Answer(status=start["status"], headers=headers, body=b"".join(part.get("body", b"") for part in rest))


class _NoDescriptors:
    """What the loop asks when it has nothing to do: there is never anything but time to wait for."""

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("The exchange waits for something that cannot come.")
        if timeout > 0:
            time.sleep(timeout)
        return []


class _QuietLoop(asyncio.BaseEventLoop):
    """An event loop without a selector and without a pipe to itself: opening and closing it costs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _NoDescriptors()

    def _process_events(self, event_list: list[Any]) -> None:
        """Asked after every turn, with the nothing that `select` found."""

    def _write_to_self(self) -> None:
        """Asked to wake the loop from another thread; nobody else knows of it."""
