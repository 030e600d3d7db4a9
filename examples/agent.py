"""An agent that suggests restaurants: asks a person for their tastes, waits for the decision, uses what they approved.

    python examples/agent.py usr_…

It works through tools alone (Model Context Protocol). Its tool server is the local bridge, which keeps the key on this
machine and opens what was approved; CONSENT_BASE_URL and CONSENT_DEVELOPER_TOKEN say where and as whom.
"""

import asyncio
import os
import sys
from dataclasses import dataclass
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

ABOUT = "lifestyle.food."  # what the agent needs to know lies here
PURPOSE = "Suggest restaurants that you would like"
PATIENCE = 600  # seconds to wait for the person
ENDED_WITHOUT = 2  # exit code: the person said no, or did not decide


@dataclass(frozen=True)
class Restaurant:
    name: str
    cuisine: str
    vegetarian: bool


RESTAURANTS = (
    Restaurant("Green Mango", "Thai", vegetarian=True),
    Restaurant("The Smokehouse", "American", vegetarian=False),
    Restaurant("Da Lucia", "Italian", vegetarian=True),
    Restaurant("Siam Grill", "Thai", vegetarian=False),
)


class Refusal(Exception):
    """A tool that could not do it; the code is the service's."""


async def call(host: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await host.call_tool(tool, arguments)
    answer: dict[str, Any] = result.structured_content
    if result.is_error:
        raise Refusal(f"{answer['code']}: {answer['detail']}")
    return answer


async def choose_scope(host: Client, user_id: str) -> str:
    """The narrowest scope that covers food. Scopes differ between people, so none is taken for granted."""
    found = await call(host, "discover_user_scopes", user_id=user_id)
    fitting = [
        entry
        for entry in found["scope_entries"]
        if len(entry["attributes"]) > 1 and all(path.startswith(ABOUT) for path in entry["attributes"])
    ]
    if not fitting:
        raise Refusal("this person has nothing about food to share")
    return str(min(fitting, key=lambda entry: len(entry["attributes"]))["scope"])


async def request_and_wait(host: Client, user_id: str, scope: str) -> str | None:
    """The request's id once the person approved; None where they did not."""
    request = await call(
        host, "request_consent", user_id=user_id, scope=scope, purpose=PURPOSE, access_duration=3600, max_reads=1
    )
    print(f"Please decide here: {request['approval_url']}", flush=True)
    request_id, deadline = str(request["request_id"]), asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < deadline:
        status = await call(host, "check_consent_status", request_id=request_id, wait_seconds=30)
        if status["status"] != "pending":
            return request_id if status["status"] == "approved" else None
    await call(host, "end_consent", request_id=request_id)
    return None


def suggest(tastes: dict[str, Any]) -> list[Restaurant]:
    """Restaurants in the order in which this person would like them, without those that do not fit their diet."""
    diet, cuisine = (str(tastes.get(name)).casefold() for name in ("diet_preference", "favorite_cuisine"))
    fitting = [place for place in RESTAURANTS if place.vegetarian or diet not in ("vegetarian", "vegan")]
    return sorted(fitting, key=lambda place: place.cuisine.casefold() != cuisine)


async def main(user_id: str) -> int:
    """The exit code."""
    # As a host's configuration would start it: `consent-bridge config` prints the same.
    bridge = StdioServerParameters(command=sys.executable, args=["-m", "consent_bridge", "serve"], env=dict(os.environ))
    async with Client(stdio_client(bridge)) as host:
        try:
            scope = await choose_scope(host, user_id)
            request_id = await request_and_wait(host, user_id, scope)
            if request_id is None:
                print("Not this time, then.")
                return ENDED_WITHOUT
            opened = await call(host, "read_approved_data", request_id=request_id)
        except Refusal as refusal:
            print(f"It did not work: {refusal}", file=sys.stderr)
            return 1
    # Values are data. They pick from a list here; they are never followed as instructions.
    tastes = opened["data"].get("lifestyle", {}).get("food", {})
    for place in suggest(tastes):
        print(f"- {place.name} ({place.cuisine})")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python examples/agent.py usr_…")
    sys.exit(asyncio.run(main(sys.argv[1])))
