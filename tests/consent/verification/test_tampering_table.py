"""Everything of the table is done to a real history, and found by whom the table names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction

from common.sql.triggers import install_rules
from consent.rules import RULES
from consent.verification.run import Position, run
from tests.consent.verification.manipulations import CHAINS, ROWS, TABLE, Manipulation
from tests.consent.verification.world import World, make_world

_FOUND = [each for each in TABLE if each.found_by in (CHAINS, ROWS)]
_NOT_FOUND = [each for each in TABLE if each.found_by not in (CHAINS, ROWS)]
_BEGIN, _END = "<!-- tampering table -->\n", "<!-- end of the tampering table -->"
_WORDS = {
    "chains": "`verify_audit`, by the chains",
    "rows": "`verify_audit`, by the rows",
    "log": "whoever kept a checkpoint from before: the public log",
    "approval": "the receiving app, by the vault's signature",
    "app": "the app that asked",
}


@pytest.fixture
def world(db: None) -> Iterator[World]:
    """A history, with the triggers that protect it lifted for one who owns the database."""
    made = make_world()
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    yield made
    install_rules(connection, RULES)


def complaints() -> list[str]:
    return [f"{flaw.chain} entry {flaw.sequence}: {flaw.reason}" for page in run(Position()) for flaw in page]


def after(manipulation: Manipulation, world: World) -> list[str]:
    with transaction.atomic():
        manipulation.do(world)
        found = complaints()
        transaction.set_rollback(True)
    return found


def test_what_nobody_touched_holds(world: World) -> None:
    assert complaints() == []


@pytest.mark.parametrize("manipulation", _FOUND, ids=lambda each: each.do.__name__)
def test_it_is_found_and_named(world: World, manipulation: Manipulation) -> None:
    found = after(manipulation, world)

    assert [line for line in found if manipulation.says in line], found
    assert complaints() == []


@pytest.mark.parametrize("manipulation", _NOT_FOUND, ids=lambda each: each.do.__name__)
def test_the_database_alone_cannot_tell(world: World, manipulation: Manipulation) -> None:
    """Where this fails, chains or rows find it by now, and its row of the table has to say so."""
    assert after(manipulation, world) == []


def test_the_table_is_in_the_security_page() -> None:
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    table = page.split(_BEGIN)[1].split(_END)[0]

    lines = [f"| {each.what} | {_WORDS[each.found_by]} |\n" for each in TABLE]
    assert table == "".join(["| what is done | who finds it |\n", "|---|---|\n", *lines])
    assert len(TABLE) >= 40
    assert len({each.what for each in TABLE}) == len(TABLE)
