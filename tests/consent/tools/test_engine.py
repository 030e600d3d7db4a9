"""The exchange: one thread, no descriptors, nothing left behind."""

import asyncio
import os
import threading
from typing import Any

import orjson
import pytest
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from consent.tools.engine import Answer, Exchange

MESSAGE = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "any", "arguments": {}}})
HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}


def run(work: Any) -> Answer:
    """The answer of a server with one tool, which does `work` outside the loop."""

    async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
        text = await context.request.scope["exchange"].outside(work)
        return CallToolResult(content=[TextContent(text=str(text))])

    exchange = Exchange(Server("test", on_call_tool=call))
    return exchange.run(headers=HEADERS, body=MESSAGE, extra={"exchange": exchange})


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


def test_what_breaks_the_thread_is_not_swallowed() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(work)


def test_a_wait_for_what_cannot_come_ends_instead_of_hanging() -> None:
    async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("never")

    exchange = Exchange(Server("test", on_call_tool=call))

    with pytest.raises(RuntimeError, match="cannot come"):
        exchange.run(headers=HEADERS, body=MESSAGE, extra={})


def test_a_sleep_is_slept() -> None:
    async def call(context: Any, params: CallToolRequestParams) -> CallToolResult:
        await asyncio.sleep(0.01)
        return CallToolResult(content=[TextContent(text="rested")])

    exchange = Exchange(Server("test", on_call_tool=call))

    assert text_of(exchange.run(headers=HEADERS, body=MESSAGE, extra={})) == "rested"
