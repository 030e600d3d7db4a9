"""What of a model's answer the prompt or the found data hold (pure): the rest is left out, since a model may invent.

A value holds where each of its words stands in them, in whatever inflection ("own" in "She owns a house"), and each of
its numbers in digits or in words. What a model concluded in words of its own is lost by that.
"""

import re
from typing import Any

from examples.reference_agents.values import WORDS

_WORD = re.compile(r"\d+\.\d+|[^\W_]+")
_SHORTEST_STEM, _SHORTEST_NUMBER = 5, 7  # letters that two inflections share; digits of a phone number
_SCORES = ("confidence", "confidence_score", "accuracy_score")  # about the answer, not about the person


def grounded(profile: dict[str, Any], source: str) -> dict[str, Any]:
    """The members of `profile` whose values `source` holds, and the scores between 0 and 1."""
    words, digits = frozenset(_WORD.findall(source.casefold())), re.sub(r"\D", "", source)
    kept = {name: _kept(name, value, words, digits) for name, value in profile.items()}
    return {name: value for name, value in kept.items() if value is not None}


def _kept(name: str, value: Any, words: frozenset[str], digits: str) -> Any:
    """The value, or those of its parts that hold; None where nothing does."""
    if isinstance(value, dict):
        parts = {part: _kept(part, held, words, digits) for part, held in value.items()}
        parts = {part: held for part, held in parts.items() if held is not None}
        return parts if parts.keys() - {*_SCORES} else None
    if isinstance(value, list):
        return [item for item in value if _kept(name, item, words, digits) is not None] or None
    if name in _SCORES:
        return value if 0 <= value <= 1 else None
    said = _WORD.findall((name.replace("_", " ").split()[0] if isinstance(value, bool) else str(value)).casefold())
    return value if said and all(_stands(word, words, digits) for word in said) else None


def _stands(word: str, words: frozenset[str], digits: str) -> bool:
    if word in words:
        return True
    if word.isdecimal():
        in_words = len(word) < 3 and 0 < int(word) < len(WORDS) and WORDS[int(word)] in words
        return in_words or (len(word) >= _SHORTEST_NUMBER and word in digits)
    stem = word[:_SHORTEST_STEM]
    return len(word) >= 3 and any(
        one.startswith(word) or (len(stem) == _SHORTEST_STEM and one.startswith(stem)) for one in words
    )
