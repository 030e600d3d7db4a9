"""What agents say that somebody is about to do or buy, in whatever nesting they wrote it (pure).

`intent_24h`, `intent_48h` and `intent_72h` are the profile's own fields. Agents also nest all three in one
`intent_timeline`: an object by window, a list of entries that name theirs, or either of them wrapped once more.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents_proxy.proxy.placeholders import is_missing
from agents_proxy.proxy.spelling import NESTED, canonical

WINDOWS = {24: "intent_24h", 48: "intent_48h", 72: "intent_72h"}  # hours → the profile's own field
DEEPEST = 4  # wrappings that are looked into
MOST_ENTRIES = 50  # of one window
_HOURS = re.compile(r"(?<![0-9])(24|48|72)(?![0-9])")
_OF_ENTRY = frozenset({"category", "budget", "time_window", "confidence"})
_NAMES_WINDOW = ("window", "time_window", "timeframe", "time_frame", "horizon", "period", "within", "intent", "hours")


def intents(profile: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """Hours → the entries for that window, each by canonical names; a window's own field comes before nested ones."""
    found: dict[int, list[dict[str, Any]]] = {hours: list(_entries(profile.get(WINDOWS[hours]))) for hours in WINDOWS}
    for name in NESTED:
        for hours, entry in _nested(profile.get(name), DEEPEST):
            if entry not in found[hours]:
                found[hours].append(entry)
    return {hours: entries[:MOST_ENTRIES] for hours, entries in found.items()}


def is_drawn_whole(value: Any) -> bool:
    """Whether every part of a nested timeline is an entry of a known window, so that nothing is left to show."""
    if isinstance(value, Mapping):
        parts = [(_hours(name), part) for name, part in value.items() if not is_missing(part)]
        if len(parts) == 1 and parts[0][0] is None:
            return is_drawn_whole(parts[0][1])
        return bool(parts) and all(hours is not None and all(_fits(e) for e in _listed(part)) for hours, part in parts)
    if isinstance(value, list):
        return bool(value) and all(_fits(entry) and _own_hours(_canonical(entry)) is not None for entry in value)
    return False


def _fits(entry: Any) -> bool:
    return isinstance(entry, str) or (isinstance(entry, Mapping) and next(_entries(entry), None) is not None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """One intent, or several; a text alone is what it is for."""
    for entry in _listed(value):
        if isinstance(entry, str) and entry.strip():
            yield {"category": entry}
        elif isinstance(entry, Mapping):
            members = {name: part for name, part in _canonical(entry).items() if not is_missing(part)}
            if members.keys() & _OF_ENTRY:
                yield members


def _canonical(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {canonical(str(name)): part for name, part in entry.items()}


def _nested(value: Any, depth: int) -> Iterator[tuple[int, dict[str, Any]]]:
    if not depth:
        return
    if isinstance(value, Mapping):
        for name, part in value.items():
            hours = _hours(name)
            if hours is not None:
                yield from ((hours, entry) for entry in _entries(part))
            elif isinstance(part, Mapping | list) and canonical(str(name)) not in _OF_ENTRY:
                yield from _nested(part, depth - 1)
    elif isinstance(value, list):
        for part in value:
            hours = _own_hours(_canonical(part)) if isinstance(part, Mapping) else None
            if hours is None:
                yield from _nested(part, depth - 1)
            else:
                yield from ((hours, entry) for entry in _entries(part))


def _own_hours(entry: Mapping[str, Any]) -> int | None:
    """The window that an entry of a list names itself."""
    return next((hours for name in _NAMES_WINDOW if (hours := _hours(entry.get(name))) is not None), None)


def _hours(named: Any) -> int | None:
    """24, 48 or 72 where a name or a value says so: `24h`, `24_hours`, `next 48 hours`, `intent_72h`, 24."""
    if isinstance(named, bool) or not isinstance(named, str | int):
        return None
    found = _HOURS.search(str(named)[:80])
    return int(found[1]) if found else None
