"""What text states about a person, by the table of `fields` (pure).

Labelled lines ("Diet: vegan"), sentences that a pattern of the table fits, and lists of likes and dislikes. What is
denied, supposed, asked or said of somebody else is left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from examples.reference_agents.clauses import (
    FINITE_VERB,
    NEGATED_VERB,
    OTHER_PERSON,
    PREFERENCE_VERB,
    QUALIFIER,
    Clause,
    find_clauses,
)
from examples.reference_agents.fields import FIELDS, LISTS
from examples.reference_agents.labels import LABEL, field_of
from examples.reference_agents.prompts import PROMPT, Fact, Facts, json_members, strings_in, text_without_json
from examples.reference_agents.values import NO_NAME_OF_A_VALUE, a_day, bracket, lower, number, text, trimmed, yes_or_no

_MAX_LIST_LENGTH, _MAX_ITEMS = 200, 50  # characters after one verb; items of one field
_ADVERBS = r"(?:now |currently |usually |mostly )?"
_OWN = r"(?:the |her |his |my |their )"
_KIND = r"(?:(?:favou?rite|preferred|main|primary|usual|current|yearly|annual|biggest|typical) )?"
_LABELLED = (
    re.compile(rf"^[\s*-]*{_OWN}?{_KIND}({LABEL})\s*[:=]\s*(.+)$", re.I),
    re.compile(rf"^(?:and )?{_OWN}{_KIND}({LABEL}) (?:is|are) {_ADVERBS}(.+)$", re.I),
    re.compile(rf"^(?:(?:please|also|and) )?(?:change|set|update|switch) {_OWN}?({LABEL}) to (.+)$", re.I),
)
_PATTERNS = [
    (name, re.compile(pattern, 0 if one.case_sensitive else re.I), fixed)
    for name, one in FIELDS.items()
    for pattern, fixed in (one.said or {}).items()
]
_NEGATION = re.compile(rf"\b(?:not|never|no|no longer|without|{NEGATED_VERB})\b", re.I)
_NOT_VALUE = re.compile(
    rf"\b(?:not|never|no longer|{NEGATED_VERB}) (?:(?:an?|yet|longer|really|actually|currently) )*$", re.I
)
_NO_VALUE = re.compile(
    r"\W*|n/?a|(?:very |so |really |quite |too )?(?:unknown|unclear|undisclosed|unspecified|secret|private"
    r"|a (?:secret|mystery)|good|great|bad|hard|easy|fine|nice|boring|stressful|important|difficult"
    r"|interesting|different|new|old|tbd|confidential|pending|to be \w+|see \w+|(?:the )?same(?: .*)?|as (?:above"
    r"|before))",
    re.I,
)
_PREFIX = re.compile(r"(?:\w-|\b(?:non|ex) )$", re.I)  # "non-vegan"
_BASE_FORM = re.compile(r"like|love|enjoy|adore|dislike|hate|avoid|detest|loathe", re.I)
_BASE_FORM_SUBJECT = re.compile(r"(?:and |but |or )?(?:i|they) (?:(?:also|still|really|always) )*", re.I)
_NOT = re.compile(rf"\b(?:not|never|no longer|{NEGATED_VERB}) (?:(?:really|even|actually|longer) )?$", re.I)
_DO_NOT = re.compile(r"\b(?:do|does)(?: not|n['\u2019]?t) (?:(?:really|even|actually) )?$", re.I)
_AND, _OR = re.compile(r",| and "), re.compile(r",| and | or | nor ")
_MAX_ITEM_WORDS = 6  # what is longer is more than the name of a thing, and left out
_LEADING = re.compile(r"^(?:both|especially|particularly|above all|most of all|mainly|mostly|either) ", re.I)
# what an item is for, where and why: it goes without saying there
_CIRCUMSTANCE = re.compile(
    r" (?:for|on|at|to|because|since|before|after|until|during|while|whenever|as|so|again|myself|herself|himself"
    r"|of (?:her|his|my|their) own|in (?:her|his|my|their|the|general|particular|secret)|with|from (?:her|his|my"
    r"|their))\b.*",
    re.I,
)
_AMONG_ALL = re.compile(r"of all\b", re.I)  # "of all cuisines she likes Thai best" names no item by itself
# text of this form is not an item of the list: the list ended before it
_NOT_AN_ITEM = re.compile(
    r"(?:i|she|he|they|we|you|it|him|them|who|what|which|that|to|on|by|from|at|in|of|for|or|because|since|living"
    r"|working|bought|ordered"
    r"|being|getting|going|having|taking|doing|making|her|his|my|their)\b"
    r"|(?:anyone|anybody|anything|everyone|everybody)\b|.*: |.*\b(?:except|unless|if|when|she|he|they|we|you)\b|.*\w"
    r" (?:like|love|enjoy|dislike|hate|avoid) \w",
    re.I,
)


@dataclass
class Statements:
    """`facts`: what the text states. `denied`: field → a value that the text says does not apply."""

    facts: Facts = field(default_factory=dict)
    denied: dict[str, Any] = field(default_factory=dict)


def find_statements(prompt: str, name: str = "") -> Statements:
    """What the sentences of the prompt state about the person; the first statement about a field counts."""
    found = Statements()
    for clause in find_clauses(text_without_json(prompt), name):
        if _labelled(clause, found):
            continue
        for kind, pattern, fixed in _PATTERNS:
            for match in pattern.finditer(clause.text):
                _record(clause, kind, match, fixed, found)
    return found


def _labelled(clause: Clause, found: Statements) -> bool:
    """Whether the clause is a labelled value, which is then recorded."""
    for pattern in _LABELLED:
        match = pattern.match(clause.text)
        name = field_of(match[1]) if match else None
        if match and name:
            value = FIELDS[name].normalise(match[2])
            if value is not None and _is_value(name, match[2]):
                found.facts.setdefault(name, Fact(value, PROMPT))
                return True
    return False


def _is_value(name: str, said: str) -> bool:
    """Whether a label is followed by a value rather than by a placeholder, a judgement or something that is denied."""
    if FIELDS[name].normalise not in (text, lower, bracket, a_day):
        return name == "travel_frequency" or FIELDS[name].normalise in (yes_or_no, number) or not QUALIFIER.search(said)
    return not (QUALIFIER.search(said) or _NO_VALUE.fullmatch(said.strip()) or NO_NAME_OF_A_VALUE.match(said))


def _record(clause: Clause, kind: str, match: re.Match[str], fixed: Any, found: Statements) -> None:
    """Add a match to the facts or to the denied values; ignore it where the clause states neither."""
    if (
        kind in found.facts
        or OTHER_PERSON.match(clause.text, match.end() + 1)
        or _PREFIX.search(clause.text, 0, match.start())
    ):
        return
    if ": " in clause.text[match.end() :] and not FINITE_VERB.search(clause.text, 0, match.end()):
        return  # part of a label that names no field
    preference = PREFERENCE_VERB.search(clause.text)
    if preference and preference.start() < match.start():
        return  # "likes vegan food" does not state a diet
    value = _value(kind, match, fixed)
    if value is None:
        return
    opposites = FIELDS[kind].denied or {}
    negation = None
    if _hashable(value) and value in opposites:
        negation = _NEGATION.search(clause.text, 0, match.end())
    elif _hashable(value):
        negation = _NOT_VALUE.search(clause.text, 0, match.start())
    if clause.is_qualified_before(negation.start() if negation else match.start()):
        return
    if not negation:
        found.facts[kind] = Fact(value, PROMPT)
    elif value in opposites:
        found.facts[kind] = Fact(opposites[value], PROMPT)
    else:
        found.denied.setdefault(kind, value)


def _value(kind: str, match: re.Match[str], fixed: Any) -> Any:
    if fixed is not None:
        return fixed
    said = next(group for group in match.groups() if group)
    if kind in LISTS:
        return list(_list_items(said, _AND)) or None
    return FIELDS[kind].normalise(said)


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict)


def find_preferences(prompt: str, name: str = "") -> Facts:
    """Likes, dislikes and shopping preferences of the person, from the sentences and the JSON of the prompt."""
    signals = json_members(prompt)
    shopping = signals.get("shopping_preferences")
    shopping = shopping if isinstance(shopping, dict) else {}
    listed = {kind: strings_in(signals.get(kind)) for kind in ("likes", "dislikes")}
    found = {
        **apply_preferences(text_without_json(prompt), name, listed),
        "brand_affinities": strings_in(signals.get("brand_affinities")),
        "category_focus": strings_in(shopping.get("category_focus")),
    }
    facts = {kind: Fact(list(dict.fromkeys(items))[:_MAX_ITEMS], PROMPT) for kind, items in found.items() if items}
    for kind in ("price_sensitivity", "channel"):
        if isinstance(shopping.get(kind), str) and shopping[kind]:
            facts[kind] = Fact(shopping[kind], PROMPT)
    return facts


def apply_preferences(text: str, name: str, current: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The `likes` and `dislikes` of `current` as the text changes them; the latest statement about an item counts."""
    lists = {kind: list(current[kind]) for kind in ("likes", "dislikes")}
    for clause in find_clauses(text, name):
        for kind, item, holds in _preferences_in(clause):
            other = "dislikes" if kind == "likes" else "likes"
            outdated = other if holds else kind
            lists[outdated] = [entry for entry in lists[outdated] if entry.casefold() != item.casefold()]
            if holds and item.casefold() not in (entry.casefold() for entry in lists[kind]):
                lists[kind].append(item)
    return lists


def _preferences_in(clause: Clause) -> Iterator[tuple[str, str, bool]]:
    """`likes` or `dislikes`, the item, and whether it holds: "no longer likes tea" ends a like without a dislike."""
    verb = PREFERENCE_VERB.search(clause.text)
    if (
        verb is None
        or _AMONG_ALL.match(clause.text)
        or any(pattern.match(clause.text, verb.start()) for _, pattern, _ in _PATTERNS)
    ):
        return
    before = clause.text[: verb.start()]
    negation = _NOT.search(before)
    if clause.is_qualified_before(negation.start() if negation else verb.start()):
        return
    if _BASE_FORM.fullmatch(verb["verb"]) and not _is_finite(clause, before, is_label=verb["label"] is not None):
        return
    kind, holds = ("likes" if verb["likes"] else "dislikes"), negation is None
    if verb["verb"].lower() in ("like", "enjoy") and _DO_NOT.search(before):
        kind, holds = "dislikes", True
    for item in _list_items(clause.text[verb.end() :], _OR if negation else _AND):
        yield kind, item, holds


def _is_finite(clause: Clause, before: str, *, is_label: bool) -> bool:
    """Whether a base form is a verb: after "does not", "I" or "they", or as a label; not in "a bar like ours"."""
    if _DO_NOT.search(before) or (is_label and not before.strip()):
        return True
    negation = _NOT.search(before)
    subject = before[: negation.start()] if negation else before
    return clause.takes_base_form and _BASE_FORM_SUBJECT.fullmatch(subject) is not None


def _list_items(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    """The items of a list, up to the first part that is not an item."""
    for part in separator.split(text[:_MAX_LIST_LENGTH]):
        item = trimmed(_LEADING.sub("", part.strip(" \"'()-\u2013\u2014")))
        if QUALIFIER.search(item) or FINITE_VERB.search(item) or _NOT_AN_ITEM.match(item):
            return
        item = trimmed(_CIRCUMSTANCE.sub("", item))
        if len(item.split()) > _MAX_ITEM_WORDS:
            return
        if item:
            yield item
