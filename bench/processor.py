"""Processor time of processes of this machine, from /proc: what a call costs, whoever else is busy."""

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")  # a second


def of_tree(pid: int) -> float:
    """Seconds of this process and all below it, those that ended and were waited for too."""
    below: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for each, _, parent, seconds in _processes():
        below.setdefault(parent, []).append(each)
        spent[each] = seconds
    total, waiting = 0.0, [pid]
    while waiting:
        each = waiting.pop()
        total += spent.get(each, 0.0)
        waiting += below.get(each, [])
    return total


def children(pid: int) -> list[int]:
    """The processes that this one started, in order."""
    return sorted(each for each, _, parent, _ in _processes() if parent == pid)


def of_postgres() -> float:
    """Seconds of every process of PostgreSQL here; 0 where the server is elsewhere."""
    return sum(seconds for _, name, _, seconds in _processes() if name == "postgres")


def _processes() -> Iterator[tuple[int, str, int, float]]:
    """(key, name, parent, seconds of itself and of its children that ended)."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            head, _, rest = (place / "stat").read_text().rpartition(")")
        except OSError:
            continue  # ended meanwhile
        fields = rest.split()
        yield int(place.name), head.partition("(")[2], int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
