"""The merged profile as its page shows it, with marks that say which agents a value comes from (pure)."""

from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from agents_proxy.agents import ANALYSIS_AGENTS, title_of
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.intent_chart import MOST_DRAWN, chart, share
from agents_proxy.analyses.intents import WINDOWS, intents, is_drawn_whole
from agents_proxy.analyses.merging import Merged, same, score
from agents_proxy.analyses.results import PERSON
from agents_proxy.analyses.values import LONGEST_SHOWN, MOST_SHOWN, Shown, shown, text_of
from agents_proxy.proxy.spelling import NESTED, SCORES, SECTIONS
from agents_proxy.states import ANSWERED_STEPS

LONGEST_PAIRED = 24  # characters that half a phone's width holds
_UNSHOWN = frozenset({*SCORES, "user_id"})  # told elsewhere, or for programs alone


@dataclass(frozen=True)
class Mark:
    """An agent on the page; `number` is its place in the order of asking, so that the higher one stands."""

    number: int
    title: str


@dataclass(frozen=True)
class Answer:
    """What one agent said of a field; `is_winner` where the profile has it so."""

    mark: Mark
    value: Shown
    is_winner: bool


@dataclass(frozen=True)
class Field:
    """`marks` are the agents that said what is shown; `answers` what all of them said, where they differ."""

    name: str
    label: str
    value: Shown
    marks: tuple[Mark, ...]
    answers: tuple[Answer, ...] = ()
    is_own: bool = False  # it is as its person says
    typed: str | None = None  # as a person would type it; None where it can only be refused

    @property
    def sources(self) -> str:
        """The marks' numbers, as the page's filter reads them."""
        return " ".join(str(mark.number) for mark in self.marks)

    @property
    def wide(self) -> bool:
        """Whether it needs a line of its own on a phone, where short ones stand in pairs."""
        long = len(self.value.text) > LONGEST_PAIRED or self.name == "phone"  # which has no place to break at
        return long or bool(self.value.items or self.value.pairs)

    @property
    def winner(self) -> str:
        """Who stands where agents differ."""
        return next((answer.mark.title for answer in reversed(self.answers) if answer.is_winner), "")


@dataclass
class Section:
    key: str
    label: str
    icon: str
    fields: list[Field] = field(default_factory=list)
    more: int = 0


def mark(agent: str) -> Mark:
    title = gettext("You") if agent == PERSON else title_of(agent)
    return Mark(ANALYSIS_AGENTS.index(agent) + 1 if agent in ANALYSIS_AGENTS else 0, title)


def sections(merged: Merged) -> list[Section]:
    """The sections of the specification's 2.5 that have something in them, what no section knows last.

    Intents of a time window are left to `timeline`, and so is a nested timeline that it draws whole.
    """
    found = {key: Section(key, str(heading), icon) for key, (heading, icon) in analysis_words.HEADINGS.items()}
    order = {name: place for place, name in enumerate(name for names in SECTIONS.values() for name in names)}
    drawn = {*WINDOWS.values(), *(name for name in NESTED if is_drawn_whole(merged.profile.get(name)))}
    windows = intents(merged.profile)
    drawn -= {name for hours, name in WINDOWS.items() if not windows[hours]}
    for name in sorted(merged.profile, key=lambda name: order.get(name, len(order))):
        if name in _UNSHOWN or name in drawn:
            continue
        section = found[analysis_words.section_of(name)]
        if len(section.fields) < MOST_SHOWN:
            section.fields.append(field_of(name, merged))
        else:
            section.more += 1
    has_intents = any(windows.values())
    return [section for section in found.values() if section.fields or (section.key == "intents" and has_intents)]


def field_of(name: str, merged: Merged) -> Field:
    final = merged.profile[name]
    given = [(mark(agent), value, same(value, final)) for agent, value in merged.answers[name]]
    marks = tuple(found for found, _, agrees in given if agrees)
    differ = len(marks) < len(given)
    is_own = merged.provenance[name] == PERSON
    marks = (mark(PERSON), *marks) if is_own else marks
    answers = tuple(Answer(found, shown(value, name), agrees) for found, value, agrees in given) if differ else ()
    return Field(name, analysis_words.label(name), shown(final, name), marks, answers, is_own, typed(final))


def typed(value: Any) -> str | None:
    """A text, a number, or a list of these with a comma between two; None where that is too long to be typed over."""
    text = _typed(value)
    return text if text is not None and len(text) <= LONGEST_SHOWN else None


def _typed(value: Any) -> str | None:
    match value:
        case bool() | dict():
            return None
        case list():
            parts = [_typed(part) for part in value]
            return ", ".join(map(str, parts)) if all(part and "," not in part for part in parts) else None
        case _:
            return str(value)


def typed_value(text: str, before: Any) -> Any:
    """What a person typed in place of `before`, in its form as far as it has that."""
    if isinstance(before, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    number = score(text) if isinstance(before, int | float) else None
    return text.strip() if number is None else int(number) if number == int(number) else number


def timeline(merged: Merged) -> dict[str, Any] | None:
    """The chart of intents and, as its text, one lane per time window; None where nobody named an intent."""
    windows = intents(merged.profile)
    drawn = chart(windows.values())
    if drawn is None:
        return None
    number, lanes = 0, []
    for hours, entries in windows.items():
        if entries:
            named, source = analysis_words.label(WINDOWS[hours]), _source(WINDOWS[hours], merged)
            lanes.append({"label": named, "field": source, "entries": _numbered(entries, number)})
            number += min(len(entries), MOST_DRAWN)
    columns = [{**column, "hours": hours} for column, hours in zip(drawn["columns"], windows, strict=True)]
    return {**drawn, "columns": columns, "lanes": lanes}


def _source(name: str, merged: Merged) -> Field:
    """Who gave the intents of a window: in its own field, else in the nested timeline."""
    return field_of(next(one for one in (name, *NESTED) if one in merged.profile), merged)


def _numbered(entries: list[dict[str, Any]], before: int) -> list[dict[str, Any]]:
    """Each entry in words, with the number that it has in the chart; those that are not drawn have none."""
    return [
        {
            "number": before + at if at <= MOST_DRAWN else None,
            "meter": meter(entry.get("confidence")),
            **{name: text_of(entry[name]) for name in ("category", "budget", "time_window") if name in entry},
        }
        for at, entry in enumerate(entries, 1)
    ]


def meter(value: Any) -> dict[str, Any] | None:
    """A score as a share: 0.7 and 70 are both 70 %; None where it is neither."""
    found = share(value)
    return None if found is None else {"share": f"{found:.4f}", "percent": round(found * 100)}


def legend(steps: list[dict[str, Any]], merged: Merged) -> list[dict[str, Any]]:
    """Per agent: its mark, in how many fields its answer is the one shown, and how long it took."""
    longest = max((step["durationMs"] or 0 for step in steps), default=0) or 1
    counted = [name for name in merged.profile if name not in _UNSHOWN]
    return [
        {
            "mark": mark(step["agent"]),
            "answered": step["status"] in ANSWERED_STEPS,
            "fields": sum(_is_value_of(merged, name, step["agent"]) for name in counted),
            "seconds": step["seconds"],
            "width": round(100 * (step["durationMs"] or 0) / longest, 1),
        }
        for step in steps
    ]


def _is_value_of(merged: Merged, name: str, agent: str) -> bool:
    return any(source == agent and same(value, merged.profile[name]) for source, value in merged.answers[name])
