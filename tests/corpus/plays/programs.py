"""What the addresses of the sandbox and of management refuse alike, whatever their operation is."""

from typing import Any

import orjson
from django.test import override_settings

from tests import factories
from tests.access.answers import Row
from tests.access.developers import DEVELOPERS
from tests.access.routes import path_of
from tests.access.world import World, make_world
from tests.corpus.plays.owners import TOO_LARGE
from tests.corpus.stage import NOBODY, Caller, Stage
from tests.fakes.aggregator import aggregating

_UNFIT: dict[str, bytes] = {
    "no JSON": b"{",
    "an array": b"[]",
    "a member twice": b'{"a": 1, "a": 2}',
    "NUL": b'{"a": "\\u0000"}',
    "an unknown member": b'{"bogus": 1}',
}


def play(stage: Stage) -> None:
    with aggregating() as bank:
        world = make_world(bank)
    test = Caller.with_token("test app", world.tokens["TEST_APP"])
    manager = Caller.with_token("management token", world.tokens["MANAGER"])
    for row in DEVELOPERS:
        if row.route.startswith("api/v1/sandbox"):
            lacking = factories.TokenFactory(app=world.sandbox.app, permissions=["read"]).secret
            _refused(stage, world, row, test, Caller.with_token("another permission", lacking))
        elif row.route.startswith("api/v1/manage"):
            lacking = factories.ManagementTokenFactory(user=world.owner, permissions={"app_other": ["read"]}).secret
            _refused(stage, world, row, manager, Caller.with_token("another app's permission", lacking))


def _refused(stage: Stage, world: World, row: Row, caller: Caller, lacking: Caller) -> None:
    path, method = path_of(row.route, world.ids_at(row.route)), row.method
    query = row.query(world) if row.query else ""
    at = f"{path}?{query}" if query else path
    body: Any = row.body(world) if row.body else None
    for other in ("OPTIONS", "TRACE"):
        stage.call(f"another method than {method}", caller, other, at)
    stage.call("let in by nothing", NOBODY, method, at, body)
    stage.call("lacks the permission", lacking, method, at, body)
    stage.call("from a web page", caller, method, at, body, headers={"Origin": "https://trips.example"})
    stage.call("an unknown member of the query", caller, method, f"{at}{'&' if query else '?'}bogus=1", body)
    if "/manage/" in path:
        with override_settings(MANAGEMENT_CALLS_PER_HOUR=1):
            stage.call("too often", caller, method, at, body)
    if method == "GET":
        return
    stage.call("another media type", caller, method, at, raw=b"a=1", media="text/plain")
    stage.call("too large", caller, method, at, raw=orjson.dumps("x" * TOO_LARGE))
    if body is not None:
        for what, raw in _UNFIT.items():
            stage.call(what, caller, method, at, raw=raw)
