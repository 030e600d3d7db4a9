"""Names in an address that no database can be asked for: nothing is there, and nothing breaks."""

import re
from typing import Any

import pytest
from django.db import transaction

from tests.access.answers import Row
from tests.access.callers import Caller, Session, session_of
from tests.access.routes import path_of
from tests.access.table import ROWS
from tests.access.world import World, make_world
from tests.fakes.aggregator import aggregating

_NAME = re.compile(r"<(?:str:|path:)?(\w+)>")
_SAYS_SO = "accounts/password/reset/"  # on a page: the link does not work
_CALLERS = (Caller.OWNER, Caller.MANAGER, Caller.TEST_APP, Caller.APP)
_TEXTS = ("a%00b", "%00", "%ed%a0%80")  # NUL, and half of a surrogate pair


@pytest.mark.django_db
def test_a_name_that_cannot_be_read_is_one_that_is_not_there(settings: Any) -> None:
    with aggregating() as bank:
        settings.AGGREGATOR = bank.settings()
        world = make_world(bank)
        sessions = {caller: session_of(caller, world) for caller in _CALLERS}
        answered = {
            (row.route, name, text): _answer(world, sessions[_caller_of(row)], row, _path(world, row, name, text))
            for row in ROWS
            if not row.route.startswith(_SAYS_SO)
            for name in _NAME.findall(row.route)
            for text in _TEXTS
        }

    assert answered
    assert {named: status for named, status in answered.items() if status == 200 or status >= 500} == {}


def _caller_of(row: Row) -> Caller:
    """Whoever gets as far as the name."""
    if not row.route.startswith("api/v1"):
        return Caller.OWNER
    return Caller.MANAGER if "/manage/" in row.route else Caller.TEST_APP if "/sandbox/" in row.route else Caller.APP


def _path(world: World, row: Row, name: str, text: str) -> str:
    path = path_of(row.route, {**world.ids_at(row.route), name: text})
    return f"{path}?{row.query(world)}" if row.query else path


def _answer(world: World, session: Session, row: Row, path: str) -> int:
    body = row.body(world) if row.body else None
    with transaction.atomic(), session.as_it_is():
        answer = session.answer(row.method, path, body, form=row.form)
        transaction.set_rollback(True)
    return answer.status_code
