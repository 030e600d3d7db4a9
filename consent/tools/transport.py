"""Runs the official MCP SDK, which is asynchronous, inside a synchronous Django view."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

logging.getLogger("mcp").setLevel(logging.WARNING)  # below that it tells of every start of a session manager

Result = TypeVar("Result")

# the view has decided who may call, and from which origin, before a message gets here
_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)


@dataclass(frozen=True)
class Response:
    """What the SDK answered, as HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes


async def run_blocking(function: Callable[[], Result]) -> Result:
    """What `function` returns or raises, on the thread that serves the request: its connection to the database."""
    return await sync_to_async(function, thread_sensitive=True)()


def post(server: Server[Any], *, headers: Mapping[str, str], body: bytes, extra: Mapping[str, Any]) -> Response:
    """The answer to one POST, stateless; `extra` is added to the ASGI scope, where handlers find it."""
    return async_to_sync(partial(_post, server, {**_scope(headers), **extra}, body))()


async def _post(server: Server[Any], scope: Mapping[str, Any], body: bytes) -> Response:
    received = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return received.pop() if received else await asyncio.Event().wait()  # the caller does not hang up

    async def send(message: Any) -> None:
        sent.append(message)

    # a manager runs once, and on the loop of this message alone
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_CHECKED_BEFORE
    )
    async with manager.run():
        await manager.handle_request(dict(scope), receive, send)
    start, *parts = sent
    named = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", [])}
    return Response(start["status"], named, b"".join(part.get("body", b"") for part in parts))


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
