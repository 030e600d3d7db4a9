"""Searches the synthetic public registers of `records.jsonl` for the person that a prompt is about."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("records.jsonl")
FIRST = "directory-2021"  # the register that lists everybody once
# how often a register is right about a person
RELIABILITY = {
    "directory-2021": 0.9, "directory-2025": 0.97, "household": 0.96, "company": 0.95, "place": 0.99, "club": 0.96,
    "review": 0.93, "post": 0.95, "plan": 0.7,
}  # fmt: skip
# what a directory finds people by is kept up to date; the rest of it grows old
_KEPT_UP = dict.fromkeys(("full_name", "email", "phone", "age", "city"), 0.99)
_BOTH, _ONE, _NAME_AND_PLACE = 1.0, 0.97, 0.75  # how sure a match is


@dataclass(frozen=True)
class Match:
    """One person of the registers. `certainty`: how sure it is that this is who was asked for, from 0 to 1."""

    certainty: float
    records: tuple[dict[str, Any], ...]


@dataclass
class _Registers:
    people: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    by: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    places: dict[str, dict[str, Any]] = field(default_factory=dict)
    companies: dict[str, dict[str, Any]] = field(default_factory=dict)


def reliability(register: str, name: str) -> float:
    """How often this field of this register is right about a person, from 0 to 1."""
    return max(RELIABILITY[register], _KEPT_UP.get(name, 0.0))


@cache
def _registers() -> _Registers:
    """The file, read once and indexed."""
    found = _Registers()
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "place":
            found.places[record["city"]] = record
        elif record["kind"] == "company":
            found.companies[record["id"]] = record
        elif "person" in record:
            found.people[record["person"]].append(record)
            if record["kind"] == FIRST:
                for name in ("email", "phone", "full_name"):
                    found.by[name, record[name].casefold()].append(record["person"])
    return found


def search(known: Mapping[str, Any]) -> Match | None:
    """The person with this phone, e-mail address, or name and city.

    None where identifiers contradict each other or the name, and where several people have the name in that city.
    """
    registers = _registers()
    found = [
        registers.by.get((kind, str(known[kind]).casefold()), []) for kind in ("phone", "email") if known.get(kind)
    ]
    hits = {person for people in found for person in people}
    if len(hits) > 1:
        return None
    if hits:
        (person,) = hits
        if _contradicts(registers.people[person][0], known):
            return None
        return Match(_BOTH if sum(map(bool, found)) == 2 else _ONE, tuple(registers.people[person]))
    if found or not known.get("full_name") or not known.get("city"):
        return None
    namesakes = [
        person
        for person in registers.by.get(("full_name", str(known["full_name"]).casefold()), [])
        if registers.people[person][0]["city"].casefold() == str(known["city"]).casefold()
    ]
    if len(namesakes) != 1:
        return None
    return Match(_NAME_AND_PLACE, tuple(registers.people[namesakes[0]]))


def place(city: str) -> dict[str, Any]:
    """What the register of places holds of a city; empty where it has none."""
    return _registers().places.get(city, {})


def company(number: str) -> dict[str, Any]:
    """What the register of companies holds; empty where it has none."""
    return _registers().companies.get(number, {})


def _contradicts(record: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether a name is asked for that is not the person's: one may leave words of it out."""
    asked = {part.casefold() for part in str(known.get("full_name") or "").split()}
    own = {part.casefold() for part in record["full_name"].split()}
    return bool(asked) and not (asked <= own or own <= asked)
