"""Standard input as the protocol's messages, line by line.

The SDK passes over a line that it cannot read, and the host waits for an answer that never comes. Here such a line is
answered with the protocol's error, under its own id where one can be made out.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import BinaryIO

import anyio
import anyio.to_thread
import mcp_types as mcp
from pydantic import ValidationError

from consent_bridge.encoding import parse_json
from consent_bridge.errors import Refused

MAX_LINE_BYTES = 4 * 1024 * 1024
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_VALUE = re.compile(r'\s*:\s*(?:(-?\d{1,15})(?![\d.eE])|"([A-Za-z0-9._:-]{1,128})")')

Refuse = Callable[[mcp.JSONRPCError], Awaitable[None]]


class Lines:
    """The lines that are messages; each other one is given to `refuse` as the error that answers it."""

    def __init__(self, stream: BinaryIO, refuse: Refuse) -> None:
        self._stream, self._refuse = stream, refuse

    async def __aiter__(self) -> AsyncIterator[str]:
        while read := await self._next():
            line = read.removeprefix(BOM_UTF8)
            if not line.strip():
                continue
            error = _error_of(line)
            if error is None:
                yield line.decode("utf-8")
            else:
                await self._refuse(error)

    async def _next(self) -> bytes:
        """A line, at most one byte longer than it may be; the rest of a longer one is passed over."""
        line: bytes = await anyio.to_thread.run_sync(self._stream.readline, MAX_LINE_BYTES + 1, abandon_on_cancel=True)
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = await anyio.to_thread.run_sync(self._stream.readline, MAX_LINE_BYTES + 1, abandon_on_cancel=True)
        return line


def _error_of(line: bytes) -> mcp.JSONRPCError | None:
    if len(line) > MAX_LINE_BYTES:
        return _refusal(mcp.INVALID_REQUEST, f"The message is larger than {MAX_LINE_BYTES} bytes.", line)
    try:
        # Ours is the stricter reader: no duplicate members, no NaN, nothing out of range.
        message = parse_json(line, "the message")
        mcp.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except Refused as refused:
        return _refusal(mcp.PARSE_ERROR, f"The message cannot be read: {refused.reason}.", line)
    except ValidationError:
        text = "This is no message of the protocol, or one that is nested too deep."
        return _refusal(mcp.INVALID_REQUEST, text, line)
    # The SDK takes a request with an id of another type for a notification, which nobody answers.
    if "id" in message and type(message["id"]) not in (int, str):
        return _refusal(mcp.INVALID_REQUEST, "The id is neither text nor a whole number.", line)
    return None


def _refusal(code: int, message: str, line: bytes) -> mcp.JSONRPCError:
    return mcp.JSONRPCError(jsonrpc="2.0", id=_id_of(line), error=mcp.ErrorData(code=code, message=message))


def _id_of(line: bytes) -> mcp.RequestId | None:
    """The `id` at the outermost level, found without a parser, since no parser takes this line."""
    text, depth = line.decode("utf-8", "replace"), 0
    for token in _TOKEN.finditer(text):
        if token.group() in "{[":
            depth += 1
        elif token.group() in "}]":
            depth -= 1
        elif depth == 1 and token.group() == '"id"' and (value := _VALUE.match(text, token.end())):
            return int(value[1]) if value[1] else value[2]
    return None
