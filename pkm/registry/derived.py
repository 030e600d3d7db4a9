"""Answers that can be asked for in place of values (pure): what a definition has to be. Only vaults compute them.

A definition is {"from": the path of the value, "rule": what makes the answer of it, "rule_version": 1}; the rules are
those of `consent_bridge.derived` and `formats/derived.js`, under the same vectors.
"""

from typing import Any

RULE_VERSION = 1
KINDS = ("bracket", "part", "equals_any", "at_least", "is_set")  # the less an answer of it tells, the later
_LARGEST = 2**53 - 1
_MOST_BOUNDS, _MOST_CHARACTERS, _MOST_WORDS = 20, 64, 50


def is_definition(found: Any, *, path: str) -> bool:
    """Whether the answer at `path` can be made by it: from another attribute of the same segment, by a known rule."""
    match found:
        case {"from": str(source), "rule": rule, "rule_version": version} if len(found) == 3:
            same = source.rpartition(".")[0] == path.rpartition(".")[0]
            return same and source != path and is_rule(rule) and _is_whole(version) and version == RULE_VERSION
    return False


def is_timed(definition: dict[str, Any]) -> bool:
    """Whether the answer changes by itself as time goes on, so that it is given once."""
    return bool(definition["rule"].get("of") == "age")


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


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
