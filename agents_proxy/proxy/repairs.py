"""Repairs what is almost JSON, at a bounded cost (pure).

The library looks at some texts again and again: what it does grows with the square of their length, whatever they
nest, so neither a length nor a depth alone bounds it. It is handed a text that counts every look at it and stops.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, SupportsIndex

DEEPEST = 48  # levels; deeper ones are nobody's profile and break whoever walks them
LONGEST_REPAIR = 48 * 1024  # characters, of all texts of a reply together
MOST_REPAIRS = 20  # texts of a reply
MOST_LOOKS = 150_000  # at single characters; an honest text takes two and a half for each of its own
MOST_BRACKETS = 50_000

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class Exhausted(Exception):
    """There is nothing left of the budget."""


class TooDeep(Exception):
    """Brackets are nested deeper than `DEEPEST`."""


@dataclass
class Budget:
    """What may be spent on one reply, however many texts it has."""

    characters: int = LONGEST_REPAIR
    repairs: int = MOST_REPAIRS
    looks: int = MOST_LOOKS
    brackets: int = MOST_BRACKETS


class _CountedText(str):
    """A text that counts how often it is read, and so do texts derived from it."""

    __slots__ = ("budget",)
    budget: Budget

    @classmethod
    def counting(cls, text: str, budget: Budget) -> "_CountedText":
        counted = cls(text)
        counted.budget = budget
        return counted

    def __getitem__(self, at: "SupportsIndex | slice[Any, Any, Any]") -> str:
        found = super().__getitem__(at)
        self.budget.looks -= len(found)
        if self.budget.looks < 0:
            raise Exhausted
        return _CountedText.counting(found, self.budget) if isinstance(at, slice) else found

    def __add__(self, other: str) -> str:
        return _CountedText.counting(super().__add__(other), self.budget)


def repaired(text: str, budget: Budget) -> Any:
    """What the library makes of `text`.

    Raises `Exhausted`, `TooDeep`, and `ValueError` where nothing can be made of it.
    """
    import json_repair  # most replies need no repair

    budget.characters -= len(text)
    budget.repairs -= 1
    if budget.characters < 0 or budget.repairs < 0:
        raise Exhausted
    if any(depth > DEEPEST for _, depth in _depths(text, 0, budget)):
        raise TooDeep
    try:
        return json_repair.loads(_CountedText.counting(text, budget), skip_json_loads=True)
    except RecursionError:
        raise TooDeep from None


def past_brackets(text: str, start: int, budget: Budget) -> int:
    """Where the bracket at `start` is closed again; the end of the text where it never is.

    Raises `Exhausted`, `TooDeep`.
    """
    for end, depth in _depths(text, start, budget):
        if depth > DEEPEST:
            raise TooDeep
        if depth == 0:
            return end
    return len(text)


def _depths(text: str, start: int, budget: Budget) -> Iterator[tuple[int, int]]:
    """After each bracket outside strings: where it ends, and how many are open."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        if found[0][0] == '"':
            continue
        budget.brackets -= 1
        if budget.brackets < 0:
            raise Exhausted
        depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
        yield found.end(), depth
