"""Profile fields that sentences state about a person: age, city, occupation, diet and family (pure)."""

import re
from dataclasses import dataclass, field
from typing import Any

from examples.reference_agents.clauses import Clause, find_clauses
from examples.reference_agents.patterns import NEGATED_VERB, OTHER_PERSON, PREFERENCE_VERB
from examples.reference_agents.profile_facts import PROMPT, Fact, Facts
from examples.reference_agents.prompt_parsing import text_without_json

# "vegan or vegetarian" does not tell which of the two applies
_ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
_FOOD_NOUNS = (
    "food|foods|dish|dishes|recipes?|restaurants?|cooking|cuisine|products?|brands?|cakes?|meals?|options?|shoes|leather"
    "|cosmetics|friendly"
)
_PATTERNS: list[tuple[str, re.Pattern[str]]] = [
    ("age", re.compile(r"\b(\d{1,3})[ -]years?[ -]old\b|\baged? (\d{1,3})\b", re.I)),
    ("city", re.compile(r"\b(?:lives?|living|based|resides?) in ([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})")),
    (
        "occupation",
        re.compile(r"\bworks? as (?:an? )?([a-z][a-z -]{2,40}?)(?= (?:in|at|for|and|who)\b|[.,;\n]|$)", re.I),
    ),
    ("diet_preference", re.compile(_ONE_OF.format("vegan|vegetarian|pescatarian", _FOOD_NOUNS), re.I)),
    (
        "marital_status",
        re.compile(_ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"), re.I),
    ),
    ("children_count", re.compile(r"\b(\d{1,2}) (?:children|kids)\b", re.I)),
]
_NOT = re.compile(
    rf"\b(?:not|never|no longer|{NEGATED_VERB}) (?:(?:an?|yet|longer|really|actually|currently) )*$", re.I
)
_PREFIX = re.compile(r"(?:\w-|\b(?:non|ex) )$", re.I)  # "non-vegan"


@dataclass
class Statements:
    """`facts`: what the text states. `denied`: field → a value that the text says does not apply."""

    facts: Facts = field(default_factory=dict)
    denied: dict[str, Any] = field(default_factory=dict)


def find_statements(prompt: str, name: str = "") -> Statements:
    """What the sentences of the prompt state about the person; the first statement about a field counts."""
    found = Statements()
    for clause in find_clauses(text_without_json(prompt), name):
        for kind, pattern in _PATTERNS:
            for match in pattern.finditer(clause.text):
                _record(clause, kind, match, found)
    return found


def _record(clause: Clause, kind: str, match: re.Match[str], found: Statements) -> None:
    """Add a match to the facts or to the denied values; ignore it where the clause states neither."""
    if (
        kind in found.facts
        or OTHER_PERSON.match(clause.text, match.end() + 1)
        or _PREFIX.search(clause.text, 0, match.start())
    ):
        return
    preference = PREFERENCE_VERB.search(clause.text)
    if preference and preference.start() < match.start():
        return  # "likes vegan food" does not state a diet
    text = next(group for group in match.groups() if group)
    value = int(text) if text.isdigit() else text.strip() if kind == "city" else text.strip().lower()
    negation = _NOT.search(clause.text, 0, match.start())
    if clause.is_qualified_before(negation.start() if negation else match.start()):
        return
    if negation:
        found.denied.setdefault(kind, value)
    else:
        found.facts[kind] = Fact(value, PROMPT)
