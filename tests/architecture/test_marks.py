"""What the marks of the tests say: why one is slow, and what the long form of one is."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.forms import Form
from tests.slow_tests import unexplained

TESTS = Path(__file__).resolve().parents[1]


def marks() -> Iterator[tuple[str, ast.expr]]:
    """Where `mark.slow` and `mark.long` stand: the place, and the call or, where it is none, the bare name."""
    for path in sorted(TESTS.rglob("*.py")):
        if "node_modules" in path.parts or "mark." not in (text := path.read_text()):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        called = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in ("slow", "long") and _is_mark(node.value):
                yield f"{path.relative_to(TESTS)}:{node.lineno}", called.get(id(node), node)


def _is_mark(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "mark"


def test_every_mark_gives_its_reason() -> None:
    found = dict(marks())
    silent = [place for place, node in found.items() if not _gives_a_reason(node)]

    assert len(found) > 5
    assert silent == []


def _gives_a_reason(node: ast.expr) -> bool:
    """Whether the first argument is a text of at least a few words."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return False
    return isinstance(node.args[0].value, str) and len(node.args[0].value.split()) >= 4


@pytest.mark.parametrize("source", ["mark.slow", "mark.slow()", "mark.slow('')", "mark.slow('it is slow')"])
def test_a_mark_without_a_reason_is_noticed(source: str) -> None:
    assert not _gives_a_reason(ast.parse(source, mode="eval").body)


def report(seconds: float, *, marked: bool = False, when: str = "call") -> Any:
    return SimpleNamespace(
        nodeid=f"{when} of {seconds:.0f} s", duration=seconds, when=when, user_properties=[("slow_says_why", marked)]
    )


def test_who_takes_long_without_a_mark_is_told_longest_first() -> None:
    reports = [report(6), report(4), report(30, marked=True), report(8), report(40, when="setup")]

    assert unexplained(reports) == ["   8.0 s  call of 8 s", "   6.0 s  call of 6 s"]


def test_a_short_form_meets_everything_within_its_days() -> None:
    things = list(range(17))
    days = [Form(long=False, day=day).part(things, 5) for day in range(700_001, 700_005)]

    assert max(map(len, days)) <= 5
    assert sorted(thing for part in days for thing in part) == things
    assert Form(long=True, day=3).part(things, 5) == things
    assert [Form(long=long, day=0).amount(2, 9) for long in (False, True)] == [2, 9]
    assert Form(long=False, day=0).part([], 5) == []
