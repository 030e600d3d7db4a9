"""From words to the value of a field (pure). What a normaliser does not know is None, and is left out."""

import re
from collections.abc import Callable
from typing import Any

Normalise = Callable[[str], Any]
# words after a value that say when or how much, not what: "a garden at times"
_SPAN = r"(?:day|week|weekend|month|year|spring|summer|autumn|winter|morning|afternoon|evening|night|moment|time)s?"
TRAILING = re.compile(
    r",? (?:(?:right |just |for )?now|nowadays|again|soon|lately|today|tonight|too|either|already|currently|though"
    r"|indeed|of course|as well|at (?:times|present|all|heart|least)|above all|most of all|more than anything(?: else)?"
    r"|by far|best|most|a great deal|any ?more|(?:(?:very|so|that|quite) )?(?:much|a lot)|full[ -]time|part[ -]time"
    r"|(?:very |so |rather |really )?(?:bad|urgent|dear|desperate|great|immense|particular|especial|deep|extreme"
    r"|intense|strong|regular|passionate|tru|real|most|main|usual)ly"
    r"|(?:(?:at|in|on|for|over|since|before|after|during|until|within|by) )?(?:(?:the|an?|her|his|my|their) )?"
    rf"(?:this|these|next|last|every|each|all|one|some|many|several|few|coming|near|two|three|\d+) {_SPAN}(?: or so)?"
    rf"|(?:at|in|on|for|over|during|by|before|after) (?:the )?(?:{_SPAN}|ages|future|long|\w+days?|childhood)"
    r"|(?:in|since|before|after|by|until|from|for) (?:(?:early|late) )?(?:(?:19|20)\d\d|january|february|march|april"
    r"|may"
    r"|june|july|august|september|october|november|december|christmas))$",
    re.I,
)
# "in Rome", "recorded as female" and "of a nurse" are no names
NO_NAME_OF_A_VALUE = re.compile(r"(?:[a-z]+ )?(?:in|at|on|from|with|by|near|for|like|as|to)\b|of\b")
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def trimmed(value: str) -> str:
    """The value without the words after it that say when or how much."""
    while (shorter := TRAILING.sub("", value)) != value:
        value = shorter
    return value


def text(value: str) -> str | None:
    """Words as they stand, without an article."""
    found = re.sub(r"^(?:that of )?(?:an?|the|now) ", "", trimmed(value.strip(" \t\"'-*")), flags=re.I)
    return found[:120] or None


def lower(value: str) -> str | None:
    """Words in small letters, without an article."""
    found = text(value)
    return found.lower() if found else None


def whole(value: str) -> str:
    """Words in small letters with those that say when: "jogging every morning"."""
    return value.strip(" \t\"'-*").lower()


def a_day(value: str) -> str | None:
    """Hours or minutes a day, without the words that say so."""
    found = lower(re.sub(r" (?:(?:an?|per|each|every) day|daily)$", "", value.strip(), flags=re.I))
    return found if found and re.search(r"\b(?:h|min|hours?|minutes?)\b", found) else None


def number(value: str) -> int | None:
    """A count up to 150, in digits or as a word up to ten."""
    word = re.sub(r"^an?$", "one", value.strip().lower()).replace("none", "no")
    if word in WORDS:
        return WORDS.index(word)
    return int(word) if re.fullmatch(r"\d{1,3}", word) and int(word) <= 150 else None


def yes_or_no(value: str) -> bool | None:
    """Yes and no as people write them."""
    return {"yes": True, "true": True, "no": False, "false": False, "none": False}.get(value.strip().lower())


def items(value: str) -> list[str] | None:
    """A list separated by commas or "and"."""
    found = [part.strip(" \"'") for part in re.split(r",| and ", value[:200])]
    return [part for part in found if part] or None


def bracket(value: str) -> str | None:
    """A range of money without the words around it, or words where there is no number."""
    found = re.search(r"\d[\d.,]*(?: ?(?:-|\u2013|to|and) ?\d[\d.,]*)?(?: ?(?:EUR|USD|euros|dollars))?", value)
    return found[0] if found else text(value)


def one_of(**known: str) -> Normalise:
    """The value whose pattern is in the text; None where none is, or more than one."""

    def normalise(value: str) -> str | None:
        found = [name for name, pattern in known.items() if re.search(rf"\b(?:{pattern})\b", value, re.I)]
        return found[0] if len(found) == 1 else None

    return normalise


def degree(value: str) -> str | None:
    """`high`, `medium` or `low`, by the words that say how much somebody cares; None without such words."""
    for name, pattern in _DEGREES.items():
        if re.search(rf"\b(?:{pattern})\b", value, re.I):
            return name
    return None


_DEGREES = {
    "low": r"low|little|cold|nothing|hardly|barely|scarcely|none|unimportant|indifferent|not|no|\w+n['\u2019]t",
    "medium": "medium|moderate|moderately|somewhat|fairly|average",
    "high": r"high|very|strong|a lot|loves?|enjoys?|cares?|matters?|important|interested|interest|enthusias\w*|keen"
    r"|passionate|fan|fascinated|friendly|aware|conscious|great|first|priority|heart|excited|committed|devoted"
    r"|concerned|savvy|lover|comfortable",
}


def intent(value: str) -> dict[str, Any] | None:
    """ "category, budget, time": the first part is the category; what looks like money is the budget."""
    parts = [part.strip() for part in re.split(r", ", value[:200]) if part.strip()]
    money = [
        part
        for part in parts[1:]
        if re.search(r"\d", part) and re.fullmatch(r"[\d\s.,$€£-]+(?:[A-Z]{3}|euros?|dollars?)?", part)
    ]
    rest = [part for part in parts[1:] if part not in money]
    found = {"category": parts[0] if parts else "", "budget": "".join(money[:1]), "timeWindow": "".join(rest[:1])}
    return {name: part for name, part in found.items() if part} or None
