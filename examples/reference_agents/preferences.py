"""What a person likes, dislikes and buys, from sentences and from signals of purchases (pure)."""

import re
from collections.abc import Iterator, Mapping

from examples.reference_agents.clauses import Clause, find_clauses
from examples.reference_agents.patterns import FINITE_VERB, NEGATED_VERB, PREFERENCE_VERB, QUALIFIER
from examples.reference_agents.profile_facts import PROMPT, Fact, Facts
from examples.reference_agents.prompt_parsing import json_members, strings_in, text_without_json

_MAX_LIST_LENGTH, _MAX_ITEMS = 200, 50  # characters after one verb; items of one field
_BASE_FORM = re.compile(r"like|love|enjoy|dislike|hate|avoid", re.I)
_BASE_FORM_SUBJECT = re.compile(r"(?:and |but |or )?(?:i|they) (?:(?:also|still|really|always) )*", re.I)
_NOT = re.compile(rf"\b(?:not|never|no longer|{NEGATED_VERB}) (?:(?:really|even|actually|longer) )?$", re.I)
_DO_NOT = re.compile(r"\b(?:do|does)(?: not|n['\u2019]?t) (?:(?:really|even|actually) )?$", re.I)
_AND, _OR = re.compile(r",| and "), re.compile(r",| and | or | nor ")
_TRAILING_ADVERB = re.compile(r" (?:at all|any ?more|(?:(?:very|so|that) )?much|a lot|too|either|as well)$", re.I)
# text of this form is not an item of the list: the list ended before it
_NOT_AN_ITEM = re.compile(
    r"(?:i|she|he|they|we|you|it|him|them|who|which|that|to|on|by|from|at|in|of|for|because|since|living|working)\b"
    r"|.*\b(?:except|unless|if|when|she|he|they|we|you)\b|.*\w (?:like|love|enjoy|dislike|hate|avoid) \w",
    re.I,
)


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
    if verb is None:
        return
    before = clause.text[: verb.start()]
    negation = _NOT.search(before)
    if clause.is_qualified_before(negation.start() if negation else verb.start()):
        return
    if _BASE_FORM.fullmatch(verb["verb"]) and not _is_finite(clause, before, is_label=verb["label"] is not None):
        return
    kind, holds = ("likes" if verb["likes"] else "dislikes"), negation is None
    if verb["verb"].lower() == "like" and _DO_NOT.search(before):
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
        item = _TRAILING_ADVERB.sub("", part.strip(" \"'()-\u2013\u2014"))
        if QUALIFIER.search(item) or FINITE_VERB.search(item) or _NOT_AN_ITEM.match(item):
            return
        if item:
            yield item
