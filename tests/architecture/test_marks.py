"""What the marks of the tests say: what the long form of one is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def marks() -> Iterator[tuple[str, ast.expr]]:
    """Where `mark.long` stands: the place, and the call or, where it is none, the bare name."""
    for path in sorted(TESTS.rglob("*.py")):
        if "node_modules" in path.parts or "mark.long" not in (text := path.read_text()):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        called = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr == "long" and _is_mark(node.value):
                yield f"{path.relative_to(TESTS)}:{node.lineno}", called.get(id(node), node)


def _is_mark(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "mark"


def test_every_long_form_is_described() -> None:
    found = dict(marks())
    silent = [place for place, node in found.items() if not _has_a_description(node)]

    assert len(found) > 5
    assert silent == []


def _has_a_description(node: ast.expr) -> bool:
    """Whether the first argument is a text of a few words at least."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return False
    return isinstance(node.args[0].value, str) and len(node.args[0].value.split()) > 1


@pytest.mark.parametrize("source", ["mark.long", "mark.long()", "mark.long('')", "mark.long(only=True)"])
def test_a_mark_that_says_nothing_is_noticed(source: str) -> None:
    assert not _has_a_description(ast.parse(source, mode="eval").body)
