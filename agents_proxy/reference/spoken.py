"""What sentences say of somebody: age, place, work and family (pure)."""

import re
from dataclasses import dataclass, field
from typing import Any

from agents_proxy.reference.facts import PROMPT, Fact, Facts, prose
from agents_proxy.reference.sentences import Clause, clauses
from agents_proxy.reference.words import LIKING, NEGATED, OTHERS

# of two words with "or" between them nobody knows which is so
_ONE_OF = r"(?<!\bor )\b({})\b(?!-| or\b| (?:{})\b)"
_FOODS = (
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
    ("diet_preference", re.compile(_ONE_OF.format("vegan|vegetarian|pescatarian", _FOODS), re.I)),
    (
        "marital_status",
        re.compile(_ONE_OF.format("married|divorced|widowed|unmarried", "couples?|name|people|life"), re.I),
    ),
    ("children_count", re.compile(r"\b(\d{1,2}) (?:children|kids)\b", re.I)),
]
_NOT = re.compile(rf"\b(?:not|never|no longer|{NEGATED}) (?:(?:an?|yet|longer|really|actually|currently) )*$", re.I)
_PREFIX = re.compile(r"(?:\w-|\b(?:non|ex) )$", re.I)  # "non-vegan"


@dataclass
class Spoken:
    """`facts`: what is stated. `denied`: what is stated not to be so, which need not say what is."""

    facts: Facts = field(default_factory=dict)
    denied: dict[str, Any] = field(default_factory=dict)


def spoken(prompt: str, name: str = "") -> Spoken:
    """What sentences of the prompt say of the person; the first word on a thing counts."""
    found = Spoken()
    for clause in clauses(prose(prompt), name):
        for kind, pattern in _PATTERNS:
            for match in pattern.finditer(clause.text):
                _weigh(clause, kind, match, found)
    return found


def _weigh(clause: Clause, kind: str, match: re.Match[str], found: Spoken) -> None:
    """Take a match in where it is stated of the person, or denied of them; leave out what is neither."""
    if (
        kind in found.facts
        or OTHERS.match(clause.text, match.end() + 1)
        or _PREFIX.search(clause.text, 0, match.start())
    ):
        return
    liking = LIKING.search(clause.text)
    if liking and liking.start() < match.start():
        return  # what somebody likes is not what they are
    text = next(group for group in match.groups() if group)
    value = int(text) if text.isdigit() else text.strip() if kind == "city" else text.strip().lower()
    negation = _NOT.search(clause.text, 0, match.start())
    if clause.veiled(negation.start() if negation else match.start()):
        return
    if negation:
        found.denied.setdefault(kind, value)
    else:
        found.facts[kind] = Fact(value, PROMPT)
