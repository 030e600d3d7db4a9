"""From what each agent said to one profile, with who said what (pure). Contract 4.3, "Merge"."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_proxy.agents import ANALYSIS_AGENTS


@dataclass(frozen=True)
class Merged:
    """`provenance`: field → the agent whose value stands. `overridden`: field → those whose other value does not."""

    profile: dict[str, Any]
    provenance: dict[str, str]
    overridden: dict[str, list[tuple[str, Any]]]


def merge(said: Mapping[str, Mapping[str, Any]]) -> Merged:
    """`said`: agent → its fields, missing ones left out already; the later agent of an analysis overrides."""
    profile: dict[str, Any] = {}
    provenance: dict[str, str] = {}
    overridden: dict[str, list[tuple[str, Any]]] = {}
    for agent in ANALYSIS_AGENTS:
        for name, value in said.get(agent, {}).items():
            if name in profile and not _same(profile[name], value):
                overridden.setdefault(name, []).append((provenance[name], profile[name]))
            profile[name] = value
            provenance[name] = agent
    return Merged(profile, provenance, overridden)


def metadata(profile: Mapping[str, Any], durations: Sequence[int]) -> dict[str, Any]:
    """`confidence_score` and `accuracy_score` only where an agent gave one; `durations` of those that answered, ms."""
    scores = {
        name: found
        for name, short in (("confidence_score", "confidence"), ("accuracy_score", "accuracy"))
        if (found := score(profile.get(name))) is not None or (found := score(profile.get(short))) is not None
    }
    average = round(sum(durations) / len(durations)) if durations else None
    return {**scores, "total_fields": len(profile), "response_time_ms": average}


def score(value: Any) -> int | float | None:
    """A number, also one written as text; anything else is no score."""
    if isinstance(value, str) and len(value) < 32:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, where 1 and true differ."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other)
