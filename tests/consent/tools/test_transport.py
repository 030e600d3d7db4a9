"""The SDK under many threads: functions run on the caller's thread, a call that waits holds up no other."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import orjson
import pytest
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from consent.tools.transport import Response, Transport, run_blocking
from tests.consent.tools.hosts import envelope
from tests.patience import MOST_SECONDS

REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18"]
PARAMS = {"name": "any", "arguments": {}, "_meta": envelope()}  # of the newest revision; earlier ones ignore it
MESSAGE = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": PARAMS})
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "any",
}
Serve = Callable[[Any], Any]


@pytest.fixture
def transport_of() -> Iterator[Callable[..., Transport]]:
    """Makes transports of a server with one tool, which answers what `serve` returns for its context."""
    with ExitStack() as stack:

        def make(serve: Serve, **options: float) -> Transport:
            async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
                return CallToolResult(content=[TextContent(text=str(await serve(context)))])

            transport = Transport(Server("test", on_call_tool=call), **options)
            stack.callback(transport.close)
            return transport

        yield make


@pytest.fixture
def transport(transport_of: Callable[..., Transport]) -> Transport:
    """Its tool calls `function`, which comes with each message."""
    return transport_of(lambda context: run_blocking(context, context.request.scope["function"]))


def post(transport: Transport, revision: str = "2025-11-25", **extra: Any) -> Response:
    return transport.post(headers={**HEADERS, "MCP-Protocol-Version": revision}, body=MESSAGE, extra=extra)


def text_of(response: Response) -> Any:
    return orjson.loads(response.body)["result"]["content"][0]["text"]


def run(transport: Transport, function: Callable[[], Any], revision: str = "2025-11-25") -> Any:
    """What the tool answers that calls `function`."""
    return text_of(post(transport, revision, function=function))


def test_a_function_runs_on_the_callers_thread_with_no_loop(transport: Transport) -> None:
    def function() -> str:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return str(threading.get_ident())

    assert run(transport, function) == str(threading.get_ident())


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_that_waits_holds_up_no_other(revision: str, transport: Transport) -> None:
    waiting, over = threading.Barrier(21), threading.Event()

    def wait() -> str:
        waiting.wait(MOST_SECONDS)
        over.wait(MOST_SECONDS)
        return "waited"

    with ThreadPoolExecutor(20) as pool:
        held = [pool.submit(run, transport, wait, revision) for _ in range(20)]
        waiting.wait(MOST_SECONDS)

        answer = run(transport, lambda: "at once", revision)
        still_held = not any(call.done() for call in held)
        over.set()

        assert (answer, still_held) == ("at once", True)
        assert [call.result(MOST_SECONDS) for call in held] == ["waited"] * 20


@pytest.mark.parametrize("revision", REVISIONS)
def test_threads_get_their_own_answers(revision: str, transport: Transport) -> None:
    numbers = [str(number) for number in range(200)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda number: run(transport, lambda: number, revision), numbers)) == numbers


def test_a_tool_may_call_several_functions(transport_of: Callable[..., Transport]) -> None:
    async def serve(context: Any) -> list[int]:
        return [await run_blocking(context, threading.get_ident) for _ in range(3)]

    assert text_of(post(transport_of(serve))) == str([threading.get_ident()] * 3)


def test_what_a_function_raises_reaches_its_handler(transport_of: Callable[..., Transport]) -> None:
    async def serve(context: Any) -> str:
        with pytest.raises(ZeroDivisionError):
            await run_blocking(context, lambda: 1 // 0)
        return "caught"

    assert text_of(post(transport_of(serve))) == "caught"


@pytest.mark.parametrize("revision", REVISIONS)
def test_calls_leave_no_descriptor_no_thread_and_no_task(revision: str, transport_of: Callable[..., Transport]) -> None:
    tasks: list[int] = []

    async def count_tasks(context: Any) -> None:
        tasks.append(len(asyncio.all_tasks()))

    transport = transport_of(count_tasks)
    post(transport, revision)

    def leaves_nothing() -> bool:
        before = (len(os.listdir("/proc/self/fd")), threading.active_count())
        post(transport, revision)
        return (len(os.listdir("/proc/self/fd")), threading.active_count()) == before

    # what other tests left in this process may end meanwhile; a call that leaks does so each time
    assert any(leaves_nothing() for _ in range(5))
    for _ in range(20):
        post(transport, revision)
    assert max(tasks[-10:]) <= max(tasks[:3])


def test_a_call_may_be_made_inside_the_function_of_another(transport: Transport) -> None:
    assert run(transport, lambda: run(transport, lambda: "inner")) == "inner"


def test_what_breaks_the_thread_is_not_swallowed_and_breaks_nothing_else(transport: Transport) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(transport, interrupt)

    assert run(transport, lambda: "after it") == "after it"


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_manager_that_breaks_is_replaced(
    revision: str, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = StreamableHTTPServerTransport.connect

    @asynccontextmanager
    async def break_at_the_end(self: StreamableHTTPServerTransport) -> AsyncIterator[Any]:
        async with connect(self) as streams:
            yield streams
        raise ZeroDivisionError

    def try_once() -> Any:
        try:
            return run(transport, lambda: "as before", revision)
        except Exception as error:
            return type(error)

    with monkeypatch.context() as patched:
        patched.setattr(StreamableHTTPServerTransport, "connect", break_at_the_end)
        for _ in range(3):
            try_once()
    _, *recovered = [try_once() for _ in range(3)]  # the first may still meet the broken one

    assert recovered == ["as before"] * 2


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_is_broken_off_leaves_no_task(revision: str, transport_of: Callable[..., Transport]) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    async def serve(context: Any) -> Any:
        count = len(asyncio.all_tasks())
        return await run_blocking(context, context.request.scope.get("function", lambda: count))

    transport = transport_of(serve)
    before = [int(text_of(post(transport, revision))) for _ in range(3)]
    for _ in range(10):
        with pytest.raises(KeyboardInterrupt):
            post(transport, revision, function=interrupt)
    after = [int(text_of(post(transport, revision))) for _ in range(3)]

    assert after[-1] <= max(before)


def test_a_wait_for_what_does_not_come_ends_instead_of_hanging(transport_of: Callable[..., Transport]) -> None:
    cancelled: list[bool] = []

    async def wait_on_the_loop(context: Any) -> str:
        if "function" in context.request.scope:
            return str(await run_blocking(context, context.request.scope["function"]))
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.append(True)
        return "never"

    transport = transport_of(wait_on_the_loop, longest_turn=0.2)

    for number in (1, 2):
        with pytest.raises(TimeoutError, match="does not come"):
            post(transport, "2026-07-28")
        assert run(transport, lambda: "others go on") == "others go on"
        assert cancelled == [True] * number


def test_a_long_function_is_no_long_turn(transport_of: Callable[..., Transport]) -> None:
    blocking = lambda context: run_blocking(context, context.request.scope["function"])  # noqa: E731
    transport = transport_of(blocking, longest_turn=0.15)

    assert run(transport, lambda: threading.Event().wait(0.2)) == "False"


def test_a_sleep_is_slept(transport_of: Callable[..., Transport]) -> None:
    async def sleep(context: Any) -> str:
        await asyncio.sleep(0.01)
        return "rested"

    assert text_of(post(transport_of(sleep))) == "rested"


def test_closing_ends_the_loop_and_what_is_left_on_it(transport_of: Callable[..., Transport]) -> None:
    loops, left = [], []

    async def leave_a_task(context: Any) -> None:
        loops.append(asyncio.get_running_loop())
        left.append(asyncio.create_task(asyncio.sleep(3600)))

    transport = transport_of(leave_a_task)
    post(transport)
    transport.close()

    assert loops[0].is_closed()
    assert left[0].cancelled()
