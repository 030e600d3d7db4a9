"""What somebody likes, dislikes and buys, as sentences and signals of purchases tell it (pure)."""

import re
from collections.abc import Iterator, Mapping

from agents_proxy.reference.facts import PROMPT, Fact, Facts, prose, texts, told
from agents_proxy.reference.sentences import Clause, clauses
from agents_proxy.reference.words import FINITE, LIKING, NEGATED, VEIL

_LONGEST, _MOST = 200, 50  # characters of what one verb lists; items of a list
_BARE = re.compile(r"like|love|enjoy|dislike|hate|avoid", re.I)
_BARE_SUBJECT = re.compile(r"(?:and |but |or )?(?:i|they) (?:(?:also|still|really|always) )*", re.I)
_NOT = re.compile(rf"\b(?:not|never|no longer|{NEGATED}) (?:(?:really|even|actually|longer) )?$", re.I)
_DO_NOT = re.compile(r"\b(?:do|does)(?: not|n['\u2019]?t) (?:(?:really|even|actually) )?$", re.I)
_AND, _OR = re.compile(r",| and "), re.compile(r",| and | or | nor ")
_TAIL = re.compile(r" (?:at all|any ?more|(?:(?:very|so|that) )?much|a lot|too|either|as well)$", re.I)
# what begins or goes on like this is no thing that is liked: the list ended before it
_NO_THING = re.compile(
    r"(?:i|she|he|they|we|you|it|him|them|who|which|that|to|on|by|from|at|in|of|for|because|since|living|working)\b"
    r"|.*\b(?:except|unless|if|when|she|he|they|we|you)\b|.*\w (?:like|love|enjoy|dislike|hate|avoid) \w",
    re.I,
)


def preferences(prompt: str, name: str = "") -> Facts:
    """What the prompt says that somebody likes, dislikes and buys, in sentences or as signals of purchases."""
    signals = told(prompt)
    shopping = signals.get("shopping_preferences")
    shopping = shopping if isinstance(shopping, dict) else {}
    found = {
        **settled(prose(prompt), name, {kind: texts(signals.get(kind)) for kind in ("likes", "dislikes")}),
        "brand_affinities": texts(signals.get("brand_affinities")),
        "category_focus": texts(shopping.get("category_focus")),
    }
    facts = {kind: Fact(list(dict.fromkeys(items))[:_MOST], PROMPT) for kind, items in found.items() if items}
    for kind in ("price_sensitivity", "channel"):
        if isinstance(shopping.get(kind), str) and shopping[kind]:
            facts[kind] = Fact(shopping[kind], PROMPT)
    return facts


def settled(text: str, name: str, standing: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """`likes` and `dislikes` of `standing` with what sentences say of the person; the later word on a thing counts."""
    lists = {kind: list(standing[kind]) for kind in ("likes", "dislikes")}
    for clause in clauses(text, name):
        for kind, item, so in _said(clause):
            other = "dislikes" if kind == "likes" else "likes"
            gone = other if so else kind
            lists[gone] = [thing for thing in lists[gone] if thing.casefold() != item.casefold()]
            if so and item.casefold() not in (thing.casefold() for thing in lists[kind]):
                lists[kind].append(item)
    return lists


def _said(clause: Clause) -> Iterator[tuple[str, str, bool]]:
    """`likes` or `dislikes`, the thing, and whether it is so: who no longer likes a thing need not dislike it."""
    verb = LIKING.search(clause.text)
    if verb is None:
        return
    before = clause.text[: verb.start()]
    negation = _NOT.search(before)
    if clause.veiled(negation.start() if negation else verb.start()):
        return
    if _BARE.fullmatch(verb["verb"]) and not _governed(clause, before, labelled=verb["label"] is not None):
        return
    kind, so = ("likes" if verb["likes"] else "dislikes"), negation is None
    if verb["verb"].lower() == "like" and _DO_NOT.search(before):
        kind, so = "dislikes", True
    for item in _listed(clause.text[verb.end() :], _OR if negation else _AND):
        yield kind, item, so


def _governed(clause: Clause, before: str, *, labelled: bool) -> bool:
    """Whether a verb without an s is one: after "does not", after "I" or "they", or as a label. "A bar like ours"."""
    if _DO_NOT.search(before) or (labelled and not before.strip()):
        return True
    negation = _NOT.search(before)
    return clause.plain and _BARE_SUBJECT.fullmatch(before[: negation.start()] if negation else before) is not None


def _listed(text: str, separator: re.Pattern[str]) -> Iterator[str]:
    """The things of a list, up to what is none."""
    for part in separator.split(text[:_LONGEST]):
        item = _TAIL.sub("", part.strip(" \"'()-\u2013\u2014"))
        if VEIL.search(item) or FINITE.search(item) or _NO_THING.match(item):
            return
        if item:
            yield item
