"""Everybody who may come to an address for programs: the table of tests/access, with the bytes of each answer.

Callers who are answered the same are recorded together.
"""

import orjson
from django.db import transaction
from django.test import override_settings

from tests.access.answers import Row
from tests.access.callers import TOKENS, session_of
from tests.access.callers import Caller as Role
from tests.access.routes import path_of
from tests.access.table import ROWS
from tests.access.world import World, make_world
from tests.config.every_address import AGENTS, DEVELOPER, MANAGEMENT, OPEN, OWNER
from tests.corpus.stage import NOBODY, Caller, Stage, address_of
from tests.fakes.aggregator import aggregating

PROGRAMS = {*AGENTS, *DEVELOPER, *MANAGEMENT, *OPEN, *OWNER}
_MCP = {"Accept": "application/json, text/event-stream"}


def play(stage: Stage) -> None:
    with aggregating() as bank, override_settings(AGGREGATOR=bank.settings()):
        world = make_world(bank)
        people = {role: caller_of(role, world) for role in Role}
        for row in ROWS:
            if row.route in PROGRAMS and row.route != "api/schema/":
                _everybody(stage, world, row, people)


def caller_of(role: Role, world: World) -> Caller:
    """The same caller on this stage."""
    if role is Role.ANONYMOUS:
        return NOBODY
    if role in TOKENS:
        return Caller.with_token(role.value, world.tokens[role.name])
    return Caller.with_cookies(role.value, session_of(role, world).client.cookies)


def _everybody(stage: Stage, world: World, row: Row, people: dict[Role, Caller]) -> None:
    query = row.query(world) if row.query else ""
    path = path_of(row.route, world.ids_at(row.route)) + (f"?{query}" if query else "")
    told: dict[str, dict[str, object]] = {}
    for role, caller in people.items():
        body = b"" if row.body is None else orjson.dumps(row.body(world))
        with transaction.atomic():
            answer = stage.ask(caller, row.method, path, body, headers=_MCP if row.route.startswith("mcp") else None)
            transaction.set_rollback(True)
        found = stage.told(answer)
        same = told.setdefault(repr(found), {"found": found, "callers": []})
        same["callers"] = [*same["callers"], role.value]  # type: ignore[misc]  # a list
    stage.exchanges.extend(
        {
            "what": "as in the table of docs/access.md",
            "caller": ", ".join(one["callers"]),  # type: ignore[arg-type]  # a list
            "address": address_of(path),
            "request": f"{row.method} {stage.placeholders.put(path)}",
            **one["found"],  # type: ignore[dict-item]  # a dictionary
        }
        for one in told.values()
    )
