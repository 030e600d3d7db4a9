"""A host as the official SDK makes one, with the bridge as its local tool server."""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).resolve().parents[3]
NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
MODES = {NEWEST: NEWEST, PREVIOUS: "legacy"}


def bridge_environment(state, service, token):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CONSENT_")}
    return {
        **inherited,
        "PYTHONPATH": str(ROOT / "bridge"),
        "CONSENT_BRIDGE_STATE": str(state),
        "CONSENT_BASE_URL": f"{service}/api/v1",
        "CONSENT_DEVELOPER_TOKEN": token,
    }


def with_bridge(environment, act, *, mode="auto", command=(sys.executable, "-W", "error", "-m", "consent_bridge")):
    """Run `act(client)` with a connected client; its result and what the bridge said on standard error."""
    log = Path(environment["CONSENT_BRIDGE_STATE"]).parent / "bridge.log"
    program, *arguments = command

    async def inside(errors):
        parameters = StdioServerParameters(command=program, args=[*arguments, "serve"], env=environment)
        async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
            return await asyncio.wait_for(act(client), 180)

    with log.open("w") as errors:
        result = asyncio.run(inside(errors))
    return result, log.read_text()


async def call(client, name, **arguments):
    """The structured answer of a tool that did it."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.structured_content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def refused(client, name, **arguments):
    """The problem of a tool that did not."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content
