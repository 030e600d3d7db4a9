"""From what each agent said to one profile, with who said what (pure). Contract 4.3, "Merge"."""

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_proxy.agents import ANALYSIS_AGENTS
from agents_proxy.analyses.intents import WINDOWS, intents
from agents_proxy.proxy.spelling import SCORES, SECTIONS, canonical

# the fields of the merged profile that the specification's 2.5 lists; those of its 2.6, about brands, come on top
SPECIFIED = tuple(name for section, names in SECTIONS.items() if section != "brands" for name in names)
_PHONE = re.compile(r"\+?[0-9][0-9 ()/.-]{6,24}")
_PUNCTUATED_DIGITS = re.compile(r"[^0-9+]")
_NOT_ABOUT_THEM = frozenset({*SCORES, "user_id"})  # nothing of the person that agents could agree on


@dataclass(frozen=True)
class Merged:
    """`provenance`: field → the agent whose value stands. `answers`: field → everybody who gave it, as they gave it."""

    profile: dict[str, Any]
    provenance: dict[str, str]
    answers: dict[str, list[tuple[str, Any]]]

    @property
    def overridden(self) -> dict[str, list[tuple[str, Any]]]:
        """Field → those whose other value does not stand."""
        others = {
            name: [(agent, value) for agent, value in given if not same(value, self.profile[name])]
            for name, given in self.answers.items()
        }
        return {name: found for name, found in others.items() if found}


def merge(fields_by_agent: Mapping[str, Mapping[str, Any]]) -> Merged:
    """Of each agent its fields, missing ones left out already; the later agent of an analysis overrides."""
    return merge_in_order([(agent, fields_by_agent.get(agent, {})) for agent in ANALYSIS_AGENTS])


def merge_in_order(agent_fields: Sequence[tuple[str, Mapping[str, Any]]]) -> Merged:
    """`agent_fields` has the agents with their fields, the one whose values win last."""
    answers: dict[str, list[tuple[str, Any]]] = {}
    for agent, fields in agent_fields:
        for name, value in fields.items():
            answers.setdefault(name, []).append((agent, value))
    profile = {name: given[-1][1] for name, given in answers.items()}
    return Merged(profile, {name: given[-1][0] for name, given in answers.items()}, answers)


def measures(merged: Merged) -> dict[str, float | None]:
    """`coverage` and `agreement`, None where no field was given by several (contract 4.3); shares from 0 to 1."""
    agreed, compared = agreement(merged)
    return {
        "coverage": round(len(filled(merged.profile)) / len(SPECIFIED), 4),
        "agreement": round(agreed / compared, 4) if compared else None,
    }


def filled(profile: Mapping[str, Any]) -> set[str]:
    """Which of the specification's fields the profile has; an intent counts wherever an agent nested it."""
    nested = {WINDOWS[hours] for hours, entries in intents(profile).items() if entries}
    return {name for name in SPECIFIED if name in profile} | nested


def agreement(merged: Merged) -> tuple[int, int]:
    """In how many of the fields that several agents gave they all agree, and how many those are."""
    several = [given for name, given in merged.answers.items() if len(given) > 1 and name not in _NOT_ABOUT_THEM]
    return sum(all(same(value, given[0][1]) for _, value in given) for given in several), len(several)


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


def same(one: Any, other: Any) -> bool:
    """Whether two values say the same: case, blanks and the order of a list make no difference; 1 and true do."""
    return bool(_normal(one) == _normal(other))


def _normal(value: Any) -> str:
    """One text for all spellings of a value."""
    match value:
        case None:
            return ""
        case bool():
            return json.dumps(value)
        case Mapping():
            return (
                "{" + ",".join(sorted(f"{canonical(str(name))}:{_normal(part)}" for name, part in value.items())) + "}"
            )
        case list():
            return "[" + ",".join(sorted(map(_normal, value))) + "]"
        case _:
            text = " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split()).rstrip(".")
            text = _PUNCTUATED_DIGITS.sub("", text) if _PHONE.fullmatch(text) else text
            number = score(text)
            return text if number is None else repr(float(number))
