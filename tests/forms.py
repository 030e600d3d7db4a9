"""The two forms of a long test: a short one in `./run test`, the whole in `./run prove tests/…`.

A test that is marked `long(what)` asks for the fixture `form` and takes its amounts from it. With `only=True` it has no
short form: it, or one parameter of it, runs in `./run prove` alone. The short form of a list is a part of it that
moves on from day to day, so that after a few days `./run test` has met all of it; TESTS_DAY repeats the part of a day.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TypeVar

import pytest

T = TypeVar("T")
DAY = int(os.environ.get("TESTS_DAY") or datetime.now(UTC).toordinal())


@dataclass(frozen=True)
class Form:
    """How much of a long test is run."""

    long: bool
    day: int

    def amount(self, short: int, long: int) -> int:
        """How many, in this form."""
        return long if self.long else short

    def part(self, things: Sequence[T], most: int) -> list[T]:
        """All of it, or `most` spread evenly over it, others the next day: after len / most days it was all of it."""
        parts = 1 if self.long else -(-len(things) // most)
        return list(things[self.day % max(parts, 1) :: max(parts, 1)])


@pytest.fixture(scope="session")
def form(request: pytest.FixtureRequest) -> Form:
    """The form of this run."""
    return Form(long=request.config.getoption("--long"), day=DAY)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long forms of the tests that are marked `long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--long`, leave out what has no short form."""
    if config.getoption("--long"):
        return
    left_out = [item for item in items if any(mark.kwargs.get("only") for mark in item.iter_markers("long"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The day, where a failure may come from the part of a list that this day has."""
    if terminalreporter.stats.get("failed") and not terminalreporter.config.getoption("--long"):
        terminalreporter.write_line(f"The long tests had the parts of TESTS_DAY={DAY} ({date.fromordinal(DAY)}).")
