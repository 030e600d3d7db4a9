"""The merged profile as its page shows it. Every value is an agent's own words: templates escape it, all of it."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from agents_proxy.agents import title_of
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.merging import Merged, score
from agents_proxy.proxy.spelling import SCORES, SECTIONS, canonical

MOST_SHOWN = 200  # fields of one section, items of one list; the raw data has them all
LONGEST_SHOWN = 2000  # characters of one text
_INTENTS = ("intent_24h", "intent_48h", "intent_72h")


@dataclass(frozen=True)
class Shown:
    """A value: one text, a list of texts, or pairs of a label and a text; exactly one of them."""

    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Field:
    """`agent` said it; `others` are (agent, value) of those whose other value does not stand."""

    name: str
    label: str
    value: Shown
    agent: str
    others: tuple[tuple[str, Shown], ...] = ()


@dataclass
class Section:
    key: str
    label: str
    icon: str
    fields: list[Field] = field(default_factory=list)
    more: int = 0


def sections(merged: Merged) -> list[Section]:
    """The sections of the specification's 2.5 that have something in them, what no section knows last."""
    found = {key: Section(key, str(heading), icon) for key, (heading, icon) in analysis_words.HEADINGS.items()}
    order = {name: place for place, name in enumerate(name for names in SECTIONS.values() for name in names)}
    for name in sorted(merged.profile, key=lambda name: order.get(name, len(order))):
        if name in SCORES:
            continue
        section = found[analysis_words.section_of(name)]
        if len(section.fields) < MOST_SHOWN:
            section.fields.append(_field(name, merged))
        else:
            section.more += 1
    return [section for section in found.values() if section.fields]


def _field(name: str, merged: Merged) -> Field:
    others = tuple((agent_name(agent), shown(value)) for agent, value in merged.overridden.get(name, []))
    return Field(
        name, analysis_words.label(name), shown(merged.profile[name]), agent_name(merged.provenance[name]), others
    )


def agent_name(agent: str) -> str:
    return title_of(agent)


def shown(value: Any) -> Shown:
    """How a value reads. What is nested deeper than one level is shown as JSON."""
    if isinstance(value, dict):
        pairs = list(value.items())[:MOST_SHOWN]
        return Shown(
            pairs=tuple((analysis_words.label(canonical(name) or name[:100]), _text(part)) for name, part in pairs)
        )
    if isinstance(value, list):
        return Shown(items=tuple(_text(part) for part in value[:MOST_SHOWN]))
    return Shown(text=_text(value))


def _text(value: Any) -> str:
    match value:
        case bool():
            return gettext("Yes") if value else gettext("No")
        case str():
            text = value
        case list() if all(isinstance(part, str | int | float) for part in value):
            text = ", ".join(_text(part) for part in value[:MOST_SHOWN])
        case dict() if value and not any(isinstance(part, dict | list) for part in value.values()):
            text = ", ".join(
                f"{analysis_words.label(canonical(name) or name[:100])}: {_text(value[name])}" for name in value
            )
        case list() | dict():
            text = json.dumps(value, ensure_ascii=False)
        case None:
            return "-"
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def meter(value: Any) -> dict[str, Any] | None:
    """A score as a share: 0.7 and 70 are both 70 %; None where it is neither."""
    number = score(value)
    if number is None or not 0 <= number <= 100:
        return None
    share = number if number <= 1 else number / 100
    return {"share": f"{share:.4f}", "percent": round(share * 100)}


def intent_chart(profile: dict[str, Any]) -> dict[str, Any] | None:
    """Coordinates of the intent timeline: time to the right, certainty upwards, one column per time window."""
    entries = [
        {**entry, "column": column} for column, name in enumerate(_INTENTS) for entry in _entries(profile.get(name))[:6]
    ]
    if not entries:
        return None
    columns = [{"x": 60 + 200 * at, "middle": 160 + 200 * at, "end": 260 + 200 * at} for at in range(3)]
    for column in range(3):
        _place([entry for entry in entries if entry["column"] == column], columns[column]["x"])
    labels = [analysis_words.label(name) for name in _INTENTS]
    return {
        "bars": entries,
        "columns": [{**column, "label": label} for column, label in zip(columns, labels, strict=True)],
        "lanes": [
            {"label": label, "entries": [entry for entry in entries if entry["column"] == column]}
            for column, label in enumerate(labels)
        ],
    }


def _entries(value: Any) -> list[dict[str, Any]]:
    """One intent, or several; each as what the chart and its list need."""
    found = []
    for entry in value if isinstance(value, list) else [value]:
        said: dict[str, Any] = (
            {canonical(name): part for name, part in entry.items()} if isinstance(entry, dict) else {}
        )
        if not said and isinstance(entry, str) and entry.strip():
            said = {"category": entry}
        if said:
            shown_of: dict[str, Any] = {
                name: _text(said[name]) for name in ("category", "budget", "time_window") if name in said
            }
            found.append({**shown_of, "meter": meter(said.get("confidence"))})
    return found


def _place(entries: list[dict[str, Any]], left: int) -> None:
    """Bars side by side within a column; without a confidence a bar is as high as the chart and drawn hollow."""
    width = 184 / max(len(entries), 1)
    for at, entry in enumerate(entries):
        share = float(entry["meter"]["share"]) if entry["meter"] else 1.0
        height = max(round(150 * share, 1), 2)
        entry |= {
            "x": round(left + 8 + at * width, 1),
            "y": round(170 - height, 1),
            "width": round(width - 6, 1),
            "height": height,
            "hollow": entry["meter"] is None,
        }


def agent_bars(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per agent, how many fields it gave and how long it took, as shares of the largest."""
    most = max((step["fieldCount"] or 0 for step in steps), default=0) or 1
    longest = max((step["durationMs"] or 0 for step in steps), default=0) or 1
    return [
        {
            "agent": agent_name(step["agent"]),
            "fields": step["fieldCount"],
            "fields_width": round(100 * (step["fieldCount"] or 0) / most, 1),
            "milliseconds": step["durationMs"],
            "time_width": round(100 * (step["durationMs"] or 0) / longest, 1),
        }
        for step in steps
    ]
