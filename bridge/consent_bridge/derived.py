"""Answers in place of values: "over 18: yes" for a birthday. A rule is data; what it cannot read it cannot say.

`conformance/vectors/derived.json` says the same of this and of `formats/derived.js`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

import rfc8785

from consent_bridge.signatures import sha256

Given = dict[str, Any]
"""What a vault's notes have of the answers that it gave: app → the value's path → the answer's path → [the newest one,
the month that it was made in, the beginning of its definition's digest]."""
CANNOT_SAY = "cannot_say"
RULE_VERSION = 1
_LARGEST = 2**53 - 1
_DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?\Z")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_OLDEST = 150
# how many there may be of a bracket's bounds, of a part's characters and of the words that are compared with
_MOST_BOUNDS, _MOST_CHARACTERS, _MOST_WORDS = 20, 64, 50


def is_rule(rule: Any) -> bool:
    """Whether this is one of the rules, with exactly the members that its kind has."""
    match rule:
        case {"kind": "at_least", "of": "age" | "number", "value": value} if len(rule) == 3:
            return _is_whole(value)
        case {"kind": "bracket", "of": "age" | "number", "bounds": [*bounds]} if len(rule) == 3:
            whole = all(_is_whole(bound) and bound >= 0 for bound in bounds) and 1 <= len(bounds) <= _MOST_BOUNDS
            return whole and bounds == sorted(set(bounds))
        case {"kind": "part", "characters": count} if len(rule) == 2:
            return _is_whole(count) and 1 <= count <= _MOST_CHARACTERS
        case {"kind": "part", "member": str(name)} if len(rule) == 2:
            return name != ""
        case {"kind": "is_set"} if len(rule) == 1:
            return True
        case {"kind": "equals_any", "values": [*words]} if len(rule) == 2:
            return all(isinstance(word, str) and word for word in words) and 1 <= len(words) <= _MOST_WORDS
    return False


def answer(rule: object, value: object, at: str) -> bool | int | float | str:
    """What `rule` makes of `value` (None where there is none), or CANNOT_SAY; never an exception.

    `at` is a time in UTC as text. Ages count as of the first of its month: the day of a change would be the birthday.
    """
    if not isinstance(rule, dict) or not is_rule(rule):
        return CANNOT_SAY
    kind = rule["kind"]
    if kind == "is_set":
        return not (value is None or value == "" or value == [] or value == {})
    if kind == "equals_any":
        return value in rule["values"] if isinstance(value, str) and value else CANNOT_SAY
    if kind == "part":
        return _part(rule, value)
    number = _age(value, at) if rule["of"] == "age" else _number(value)
    if number is None:
        return CANNOT_SAY
    return number >= rule["value"] if kind == "at_least" else _bracket(rule["bounds"], number)


def is_timed(definition: Any) -> bool:
    """Whether the answer changes by itself as time goes on. It is given once: the day of the change is the birthday."""
    rule = definition.get("rule") if isinstance(definition, dict) else None
    return isinstance(rule, dict) and rule.get("of") == "age"


def with_answers(
    values: Mapping[str, Any],
    place: tuple[str, str],
    derived: Mapping[str, Any],
    at: str,
    repeated: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The values of the segment at `place` (domain, segment), with what is `derived` there in place of any such name.

    `derived` is path → {"from", "rule", "rule_version"}, a request's; where there is no source there is no answer.
    `repeated` are answers that stay as they were given.
    """
    found, stem = dict(values), ".".join((*place, ""))
    for path, definition in derived.items():
        if not path.startswith(stem):
            continue
        found.pop(path.removeprefix(stem), None)
        source = definition.get("from") if isinstance(definition, dict) else None
        if isinstance(source, str) and source.startswith(stem) and source.removeprefix(stem) in values:
            version = definition.get("rule_version")
            known = version == RULE_VERSION and version is not True
            result = answer(definition.get("rule"), values[source.removeprefix(stem)], at) if known else CANNOT_SAY
            found[path.removeprefix(stem)] = repeated.get(path, result)
    return found


def with_given(given: Given | None, app_id: str, derived: Mapping[str, Any], data: Mapping[str, Any], at: str) -> Given:
    """With the answers that leave in an export: its `derived` and `data`."""
    of_app = dict((given or {}).get(app_id, {}))
    for path, definition in derived.items():
        domain, segment, name = path.split(".")
        values, source = data.get(domain, {}).get(segment, {}), definition["from"]
        if name in values:
            of_app[source] = {**of_app.get(source, {}), path: [values[name], at[:7], _mark(definition)]}
    return {**(given or {}), app_id: of_app}


def repeated_answers(given: Given | None, app_id: str, derived: Mapping[str, Any], at: str) -> dict[str, Any]:
    """Of these answers those that this app has from this month, by path.

    Until the next one they stay as they are, whatever becomes of the values: the time of a change tells nothing then.
    """
    of_app, found = (given or {}).get(app_id, {}), {}
    for path, definition in derived.items():
        source = definition.get("from") if isinstance(definition, dict) else None
        kept, *made = of_app.get(source, {}).get(path, [None])
        if made == [at[:7], _mark(definition)]:
            found[path] = kept
    return found


def known_answers(given: Given | None, app_id: str, sources: Iterable[str]) -> dict[str, Any]:
    """What this app was answered about these values, by the answer's path."""
    of_app = (given or {}).get(app_id, {})
    return {path: kept for source in sources for path, (kept, *_) in of_app.get(source, {}).items()}


def _mark(definition: Any) -> str:
    return sha256(rfc8785.dumps(definition))[:8]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _number(value: object) -> float | None:
    if isinstance(value, str) and _DECIMAL.match(value):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return value
    return None


def _age(value: object, at: str) -> int | None:
    """Whole years since a day that is written YYYY-MM-DD; born on 29 February one is a year older on 1 March."""
    found = _DAY.match(value) if isinstance(value, str) else None
    year, month = int(at[:4]), int(at[5:7])
    try:
        born = date(*map(int, found.groups())) if found else None
    except ValueError:
        return None
    if born is None:
        return None
    age = year - born.year - ((born.month, born.day) > (month, 1))
    return age if 0 <= age <= _OLDEST else None


def _bracket(bounds: list[int], number: float) -> str:
    """`<18`, `18-29`, `65+`: the bounds that a whole number lies between; another one is rounded down."""
    at = sum(bound <= math.floor(number) for bound in bounds)
    if at == 0:
        return f"<{bounds[0]}"
    return f"{bounds[at - 1]}+" if at == len(bounds) else f"{bounds[at - 1]}-{bounds[at] - 1}"


def _part(rule: Mapping[str, Any], value: object) -> bool | int | float | str:
    """The first characters of a longer text, or one member of a group; never all of it."""
    if "characters" in rule:
        count = rule["characters"]
        return value[:count] if isinstance(value, str) and len(value) > count else CANNOT_SAY
    member = value.get(rule["member"]) if isinstance(value, dict) and len(value) > 1 else None
    if isinstance(member, (str, bool)):
        return member if member != "" else CANNOT_SAY
    number = _number(member)
    return CANNOT_SAY if number is None else number
