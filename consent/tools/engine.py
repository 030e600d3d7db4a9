"""Runs the protocol's SDK, which is asynchronous, inside a synchronous view: an exchange, on the thread that serves it.

An exchange takes a runner, an event loop with a session manager of the SDK, and gives it back as it found it.
The loop has no descriptors, since an exchange never waits for one: the tool's own work is done on the same thread while
the loop stands still. So tools are ordinary synchronous code with this thread's database connection, and a tool that
holds its answer holds no more than the thread and its runner.
"""

import asyncio
import atexit
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every start and end of a runner

_log = logging.getLogger(__name__)
Result = TypeVar("Result")
# who may call is decided before an exchange begins
_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_MOST_IDLE = 64  # runners; what more are made for a rush is closed after it
_TURNS_TO_END = 100  # of the loop, for what an answer leaves to be tidied up; earlier revisions take three


@dataclass(frozen=True)
class Answer:
    """What the SDK answered, as HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes


def outside(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises; to it, no event loop runs on this thread.

    For handlers of the protocol, whose loop stands still meanwhile, as it does under any code that does not wait.
    """
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return work()
    finally:
        asyncio._set_running_loop(loop)


class Engine:
    """The exchanges of one server, each with a runner to itself; any thread may have one."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._idle: deque[_Runner] = deque()  # the one used last is taken first, since it is warm
        atexit.register(self.close)

    def exchange(self, *, headers: Mapping[str, str], body: bytes, extra: Mapping[str, Any]) -> Answer:
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
        with self._runner() as runner:
            return runner.answer(scope, body)

    def close(self) -> None:
        """Close the runners that nobody has; later exchanges make new ones."""
        while self._idle:
            with suppress(IndexError):  # another thread took the last
                self._idle.pop().close()

    @contextmanager
    def _runner(self) -> "Iterator[_Runner]":
        try:
            runner = self._idle.pop()
        except IndexError:
            runner = _Runner(self._server)
        try:
            yield runner
        except BaseException:
            runner.close()
            raise
        if runner.is_tidy() and len(self._idle) < _MOST_IDLE:
            self._idle.append(runner)
        else:
            runner.close()


class _Runner:
    """A loop and a session manager that runs on it, for one exchange at a time."""

    def __init__(self, server: Server[Any]) -> None:
        self._loop = _QuietLoop()
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, security_settings=_CHECKED_BEFORE
        )
        self._opened, self._closing = self._loop.create_future(), self._loop.create_future()
        self._keeper = self._loop.create_task(self._keep_open())
        self._loop.run_until_complete(self._opened)

    async def _keep_open(self) -> None:
        """Open the manager and close it, which has to be done by one task."""
        async with self._manager.run():
            self._opened.set_result(None)
            await self._closing

    def answer(self, scope: dict[str, Any], body: bytes) -> Answer:
        return self._loop.run_until_complete(self._serve(scope, body))

    async def _serve(self, scope: dict[str, Any], body: bytes) -> Answer:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return messages.pop() if messages else await self._loop.create_future()  # the caller stays

        async def send(message: Any) -> None:
            sent.append(message)

        await self._manager.handle_request(scope, receive, send)
        return _answer(sent)

    def is_tidy(self) -> bool:
        """Whether the manager waits for the next exchange and nothing of the last goes on; ends what soon ends."""
        return self._goes_down_to([self._keeper])

    def close(self) -> None:
        """End what goes on, and the loop."""
        for task in self._loop.unfinished():
            if task is not self._keeper:
                task.cancel()
        if not self._closing.done():
            self._closing.set_result(None)
        if not self._goes_down_to([]):
            _log.error("an exchange left something that does not end: %r", self._loop.unfinished())
        self._loop.close()

    def _goes_down_to(self, tasks: "list[asyncio.Task[Any]]") -> bool:
        for _ in range(_TURNS_TO_END):
            if self._loop.unfinished() == tasks:
                return True
            self._loop.turn()
        return False


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
    """An event loop without a selector and without a pipe to itself, which knows its tasks."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _NoDescriptors()
        self._tasks: list[asyncio.Task[Any]] = []

    def create_task(self, *given: Any, **options: Any) -> "asyncio.Task[Any]":
        task = super().create_task(*given, **options)
        self._tasks.append(task)
        return task

    def unfinished(self) -> "list[asyncio.Task[Any]]":
        """The tasks that go on, oldest first."""
        self._tasks = [task for task in self._tasks if not task.done()]
        return self._tasks

    def turn(self) -> None:
        """Do what can be done at once, and no more."""
        self.stop()
        self.run_forever()

    def _process_events(self, event_list: list[Any]) -> None:
        """Asked after every turn, with the nothing that `select` found."""

    def _write_to_self(self) -> None:
        """Asked to wake the loop from another thread; nobody else knows of it."""
