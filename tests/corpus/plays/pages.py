"""Pages for people: status and headers, for their owner, for another person and for nobody."""

from urllib.parse import urlencode

from django.db import transaction
from django.test import override_settings

from tests.access.answers import Row
from tests.access.callers import Caller as Role
from tests.access.routes import path_of
from tests.access.table import ROWS
from tests.access.world import World, make_world
from tests.corpus.plays.callers import PROGRAMS, caller_of
from tests.corpus.stage import Caller, Stage
from tests.fakes.aggregator import aggregating

_FORM = "application/x-www-form-urlencoded"


def play(stage: Stage) -> None:
    with aggregating() as bank, override_settings(AGGREGATOR=bank.settings()):
        world = make_world(bank)
        people = [caller_of(role, world) for role in (Role.ANONYMOUS, Role.OWNER, Role.STRANGER)]
        for row in ROWS:
            if row.route not in PROGRAMS:
                for caller in people:
                    _visit(stage, world, row, caller)


def _visit(stage: Stage, world: World, row: Row, caller: Caller) -> None:
    query = row.query(world) if row.query else ""
    path = path_of(row.route, world.ids_at(row.route)) + (f"?{query}" if query else "")
    form = urlencode(row.body(world)).encode() if row.body else b""
    with transaction.atomic():
        stage.call("a page", caller, row.method, path, raw=form, media=_FORM, page=True)
        transaction.set_rollback(True)
