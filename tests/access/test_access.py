"""Who is answered what, at every address there is."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.test import override_settings

from tests.access.answers import Row
from tests.access.callers import Caller, in_short, session_of
from tests.access.page import FILE, page
from tests.access.routes import every_route, path_of
from tests.access.table import ROWS, admin_row
from tests.access.world import ABSENT, World, make_world
from tests.fakes.aggregator import aggregating

_ADMIN = "admin/"
ROOMS = sorted({row.route.partition("/")[0] for row in ROWS})


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """One for all tests here, since making it takes longer than most of them: each answer is rolled back anyway."""
    with (
        django_db_blocker.unblock(),
        aggregating() as bank,
        override_settings(AGGREGATOR=bank.settings()),
        transaction.atomic(),
    ):
        yield make_world(bank)
        transaction.set_rollback(True)


def _ask(row: Row, caller: Caller, world: World, names: dict[str, str]) -> HttpResponse:
    """One answer, and everything as it was before."""
    query = row.query(world) if row.query else ""
    path = path_of(row.route, names) + (f"?{query}" if query else "")
    if caller not in world.sessions:
        world.sessions[caller] = session_of(caller, world)
    session = world.sessions[caller]
    with transaction.atomic(), session.as_it_is():
        found = session.answer(row.method, path, row.body(world) if row.body else None, form=row.form)
        if found.streaming:
            _let_go(found)
        transaction.set_rollback(True)
    return found


def _let_go(stream: HttpResponse) -> None:
    """Close a stream, but not the connection of this test."""
    request_finished.disconnect(close_old_connections)
    stream.close()
    request_finished.connect(close_old_connections)


def _differences(rows: list[Row], world: World) -> dict[str, dict[str, tuple[str, str]]]:
    """By row and caller: what was answered, and what the table says."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for row in rows:
        told = {caller: in_short(_ask(row, caller, world, world.ids_at(row.route))) for caller in Caller}
        wrong = {
            caller.value: (told[caller], row.answers[caller])
            for caller in Caller
            if told[caller] != row.answers[caller]
        }
        if wrong:
            found[f"{row.method} /{row.route}"] = wrong
    return found


def test_every_address_has_its_row() -> None:
    routes = {route for route in every_route() if not route.startswith(_ADMIN)}

    assert {row.route for row in ROWS} == routes


def test_the_page_for_people_is_this_table() -> None:
    assert FILE.read_text() == page()


@pytest.mark.parametrize("room", ROOMS)
def test_everybody_is_answered_as_the_table_says(room: str, world: World) -> None:
    assert _differences([row for row in ROWS if row.route.partition("/")[0] == room], world) == {}


def test_the_admin_opens_to_staff_with_a_second_factor_and_to_nobody_else(world: World) -> None:
    differing = {}
    for route in every_route():
        if route.startswith(_ADMIN):
            found = _one_of(route)
            world.ids["object_id"] = str(found or 0)
            differing.update(_differences([admin_row(route, exists=found is not None)], world))

    assert differing == {}


def _one_of(route: str) -> Any:
    """The key of some row of the record that an address of the admin is about."""
    room, _, rest = route.removeprefix(_ADMIN).partition("/")
    try:
        model = apps.get_model(room, rest.partition("/")[0])
    except LookupError:
        return None
    return model._default_manager.values_list("pk", flat=True).first()


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_anothers_and_what_is_not_there_are_the_same_bytes(room: str, world: World) -> None:
    differing = {}
    for row in ROWS:
        if not row.names or row.route.partition("/")[0] != room:
            continue
        caller, ids = _other(row), world.ids_at(row.route)
        absent = _absent(ids[row.names])
        there = _told(_ask(row, caller, world, ids), ids[row.names])
        missing = _told(_ask(row, caller, world, {**ids, row.names: absent}), absent)
        if there != missing:
            differing[f"{row.method} /{row.route}"] = [
                pair for pair in zip(there, missing, strict=True) if pair[0] != pair[1]
            ]

    assert differing == {}


def _other(row: Row) -> Caller:
    """Who may call this address as person A or app A may, and has no part in what it names."""
    if row.route.startswith("api/v1/manage/"):
        return Caller.OTHER_MANAGER
    if row.answers[Caller.ANONYMOUS] != row.answers[Caller.OWNER]:
        return Caller.STRANGER
    return Caller.OTHER_TEST_APP if row.answers[Caller.APP] == "403" else Caller.OTHER_APP


def _absent(name: str) -> str:
    """An ID of the same form that nobody has."""
    return str(int(name) + 1) if name.isdecimal() else f"{name[:4]}{ABSENT}"


def _told(response: HttpResponse, name: str) -> list[str]:
    """All that the caller gets, but for what is new with every answer and for the ID, which they gave themselves."""
    trace = response["X-Request-Id"]
    headers = [f"{key}: {value}".replace(trace, "TRACE").replace(name, "ID") for key, value in response.items()]
    # one less each time, and a second less where one passed meanwhile
    headers = [re.sub(r'("management-calls";r=)\d+(;t=)\d+', r"\1LEFT\2SECONDS", header) for header in headers]
    cookies = [f"Set-Cookie: {cookie}" for cookie in response.cookies]
    text = re.sub(r'name="page_of" value="[^"]*"', "PAGE", response.content.decode())
    text = re.sub(r"\b[A-Za-z0-9]{64}\b", "CSRF", text.replace(trace, "TRACE").replace(name, "ID"))
    return [str(response.status_code), *headers, *cookies, *text.splitlines()]
