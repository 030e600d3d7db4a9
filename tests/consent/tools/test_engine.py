"""Exchanges: one thread each, no descriptors, nothing left behind for the next."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from consent.tools.engine import Answer, Engine, outside

_META = {  # of the newest revision; earlier ones let it be
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PARAMS = {"name": "any", "arguments": {}, "_meta": _META}
MESSAGE = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": PARAMS})
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "any",
}


def engine_of(serve: Callable[[Any], Any]) -> Engine:
    """Runs a server with one tool, which answers what `serve` returns for its context."""

    async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=str(await serve(context)))])

    return Engine(Server("test", on_call_tool=call))


def post(engine: Engine, revision: str = "2025-11-25", **extra: Any) -> Answer:
    return engine.exchange(headers={**HEADERS, "MCP-Protocol-Version": revision}, body=MESSAGE, extra=extra)


async def work_outside(context: Any) -> Any:
    return outside(context.request.scope["work"])


WORKING = engine_of(work_outside)


def run(work: Any) -> Answer:
    """The answer of a tool that does `work` outside the loop."""
    return post(WORKING, work=work)


def text_of(answer: Answer) -> Any:
    return orjson.loads(answer.body)["result"]["content"][0]["text"]


def test_work_runs_on_the_callers_thread_and_outside_the_loop() -> None:
    def work() -> str:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return str(threading.get_ident())

    assert text_of(run(work)) == str(threading.get_ident())


def test_an_exchange_opens_no_descriptor_and_leaves_no_thread() -> None:
    def leaves_nothing() -> bool:
        before = (len(os.listdir("/proc/self/fd")), threading.active_count())
        inside: list[int] = []
        run(lambda: inside.append(len(os.listdir("/proc/self/fd"))))
        return (inside, len(os.listdir("/proc/self/fd")), threading.active_count()) == ([before[0]], *before)

    # what other tests left in this process may end meanwhile; an exchange that leaks does so each time
    assert any(leaves_nothing() for _ in range(5))


def test_a_second_exchange_may_run_inside_the_work_of_the_first() -> None:
    assert text_of(run(lambda: text_of(run(lambda: "inner")))) == "inner"


def test_what_breaks_the_thread_is_not_swallowed_and_breaks_nothing_else() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(work)

    assert text_of(run(lambda: "after it")) == "after it"


def test_a_wait_for_what_cannot_come_ends_instead_of_hanging() -> None:
    async def wait(context: Any) -> None:
        await asyncio.get_running_loop().create_future()

    engine = engine_of(wait)

    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot come"):
            post(engine)


def test_a_sleep_is_slept() -> None:
    async def sleep(context: Any) -> str:
        await asyncio.sleep(0.01)
        return "rested"

    assert text_of(post(engine_of(sleep))) == "rested"


class Loops(list[asyncio.AbstractEventLoop]):
    """On which loops a tool ran, in order; kept here, so that no two have one identity."""

    async def note(self, context: Any) -> None:
        self.append(asyncio.get_running_loop())


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25", "2025-06-18"])
def test_a_loop_serves_again(revision: str) -> None:
    loops = Loops()
    engine = engine_of(loops.note)

    for _ in range(5):
        assert text_of(post(engine, revision)) == "None"

    assert loops == [loops[0]] * 5


def test_a_loop_on_which_something_goes_on_is_not_used_again() -> None:
    loops, left = Loops(), []

    async def leave_something(context: Any) -> None:
        await loops.note(context)
        left.append(asyncio.create_task(asyncio.sleep(3600)))
        await asyncio.sleep(0)

    engine = engine_of(leave_something)
    for _ in range(2):
        post(engine)

    assert [task.cancelled() for task in left] == [True, True]
    assert loops[0] is not loops[1]
    assert all(loop.is_closed() for loop in loops)


def test_loops_are_shared_by_threads_and_closed_with_the_engine() -> None:
    loops = Loops()
    engine = engine_of(loops.note)
    for _ in range(3):
        thread = threading.Thread(target=post, args=[engine])
        thread.start()
        thread.join()
    assert loops == [loops[0]] * 3

    engine.close()

    assert loops[0].is_closed()
    assert text_of(post(engine)) == "None"
