"""The SDK under many threads: functions run on the caller's thread, a call that waits holds up no other."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from consent.tools import transport
from consent.tools.transport import Response, run_blocking
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


def server_of(serve: Serve) -> Server[Any]:
    """A server with one tool, which answers what `serve` returns for its context."""

    async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=str(await serve(context)))])

    return Server("test", on_call_tool=call)


BLOCKING = server_of(lambda context: run_blocking(context.request.scope["function"]))


def post(server: Server[Any], revision: str = "2025-11-25", **extra: Any) -> Response:
    headers = {**HEADERS, "MCP-Protocol-Version": revision}
    return transport.post(server, headers=headers, body=MESSAGE, extra=extra)


def text_of(response: Response) -> Any:
    return orjson.loads(response.body)["result"]["content"][0]["text"]


def run(function: Callable[[], Any], revision: str = "2025-11-25") -> Any:
    """What the tool answers that calls `function`."""
    return text_of(post(BLOCKING, revision, function=function))


def test_a_function_runs_on_the_callers_thread_with_no_loop() -> None:
    def function() -> str:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return str(threading.get_ident())

    assert run(function) == str(threading.get_ident())


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_that_waits_holds_up_no_other(revision: str) -> None:
    waiting, over = threading.Barrier(21), threading.Event()

    def wait() -> str:
        waiting.wait(MOST_SECONDS)
        over.wait(MOST_SECONDS)
        return "waited"

    with ThreadPoolExecutor(20) as pool:
        calls = [pool.submit(run, wait, revision) for _ in range(20)]
        waiting.wait(MOST_SECONDS)

        answer = run(lambda: "at once", revision)
        none_done = not any(call.done() for call in calls)
        over.set()

        assert (answer, none_done) == ("at once", True)
        assert [call.result(MOST_SECONDS) for call in calls] == ["waited"] * 20


@pytest.mark.parametrize("revision", REVISIONS)
def test_threads_get_their_own_answers(revision: str) -> None:
    numbers = [str(number) for number in range(200)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda number: run(lambda: number, revision), numbers)) == numbers


def test_a_tool_may_call_several_functions() -> None:
    async def serve(context: Any) -> list[int]:
        return [await run_blocking(threading.get_ident) for _ in range(3)]

    assert text_of(post(server_of(serve))) == str([threading.get_ident()] * 3)


def test_what_a_function_raises_reaches_its_handler() -> None:
    async def serve(context: Any) -> str:
        with pytest.raises(ZeroDivisionError):
            await run_blocking(lambda: 1 // 0)
        return "caught"

    assert text_of(post(server_of(serve))) == "caught"


@pytest.mark.parametrize("revision", REVISIONS)
def test_calls_leave_no_descriptor_and_no_thread(revision: str) -> None:
    def leaves_nothing() -> bool:
        before = (len(os.listdir("/proc/self/fd")), threading.active_count())
        run(lambda: "", revision)
        gc.collect()
        return (len(os.listdir("/proc/self/fd")), threading.active_count()) == before

    # what other tests left in this process may end meanwhile; a call that leaks does so each time
    assert any(leaves_nothing() for _ in range(5))


def test_a_call_may_be_made_inside_the_function_of_another() -> None:
    assert run(lambda: run(lambda: "inner")) == "inner"


def test_what_breaks_the_thread_is_not_swallowed_and_breaks_nothing_else() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupt)

    assert run(lambda: "after it") == "after it"


def test_a_sleep_is_slept() -> None:
    async def sleep(context: Any) -> str:
        await asyncio.sleep(0.01)
        return "rested"

    assert text_of(post(server_of(sleep))) == "rested"
