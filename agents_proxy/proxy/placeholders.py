"""What stands in the place of a value and is none, and the values that agents write in words (pure)."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from agents_proxy.proxy.objects import NOT_A_NUMBER
from pkm.registry.controls import spelled

_LONGEST = 80  # characters; a longer text says something

# whole texts, in lower case and with _ for blanks, without what stands around them
_NOTHING = frozenset(
    spelled(
        "unknown n/a na n.a n_a none null nil nan infinity undefined void empty blank missing unspecified unavailable "
        "undisclosed undetermined unidentified unclear unsure uncertain not_sure tbd tba tbc to_follow pending "
        "redacted withheld masked hidden confidential prefer_not_to_say prefers_not_to_say rather_not_say string "
        "placeholder lorem_ipsum xxx xxxx todo unbekannt k.a k._a o.a o._a n.v n._v keine keiner kein entfällt fehlt "
        "fehlend unklar offen noch_offen folgt nichts unbestimmt ungewiss nicht_sicher vertraulich geschwärzt "
        "möchte_ich_nicht_sagen"
    )
)
# phrases that a text may go on from, as in "Not specified in the sources"
_PHRASE = re.compile(
    r"(?:not (?:yet )?(?:specified|available|applicable|provided|known|found|given|stated|disclosed|mentioned|public"
    r"|determined|identified|publicly \w+|enough \w+|shared|listed|set)"
    r"|none (?:specified|available|known|found|given|provided|identified|listed|mentioned|reported)"
    r"|no (?:data|information|info|records?|values?|details|answer|response|results?|(?:public|known|available) \w+)"
    r"|(?:insufficient|missing|incomplete|unavailable) (?:data|information|info)"
    r"|(?:information|data|info|details?) (?:is |are )?(?:not |un)\w+"
    r"|to be (?:determined|confirmed|announced|defined|decided|specified|filled|added|provided)"
    r"|(?:unable|impossible|not possible) to \w+|(?:cannot|can't|can not|could not|couldn't) (?:be )?\w+"
    r"|(?:unknown|unbekannt|n/a)(?= *[(,;:.\u2013\u2014-])"
    r"|nicht (?:angegeben|bekannt|verfügbar|vorhanden|zutreffend|ermittelbar|bestimmbar|genannt|gefunden|festgelegt"
    r"|öffentlich)"
    r"|keine? (?:angaben?|daten|informationen?|infos?|auskunft|antwort|werte?|ergebnisse?|einträge?)|ohne angaben?"
    r"|(?:wird|werden) noch \w+|noch zu \w+|noch nicht \w+|zu bestimmen)"
    r"(?![\w'])"
)
_TEMPLATE = re.compile(r"<[\w ./-]{1,40}>|\[[\w ./-]{1,40}\]|\{{1,2}[\w ./-]{1,40}\}{1,2}|%[\w ]{1,40}%|\.{2,}|\u2026+")
_AROUND = " \t\r\n\"'`*_.,;:!?()[]{}<>\u2018\u2019\u201c\u201d\u2026-\u2013\u2014\u2212/\\|~#="

_ENGLISH = (
    spelled(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ),
    spelled("twenty thirty forty fifty sixty seventy eighty ninety"),
)
_GERMAN = (  # none for 0, of which the word is null
    spelled(
        "- eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
        "siebzehn achtzehn neunzehn"
    ),
    spelled("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"),
)
_ABOUT = r"(?:(?:approx(?:imately|\.)?|about|around|roughly|ca\.?|circa|etwa|ungefähr|rund|~)\s*)?"
_UNIT = (
    r"(?:\s*(?:years?(?:[ -]old)?|yrs?|y/?o|old|people|persons?|members?|adults?|children|child|kids?"
    r"|jahre?(?: alt)?|personen?|kinder|kind|leute))?"
)
_NUMBER = re.compile(rf"{_ABOUT}(?P<number>[0-9]{{1,6}}(?:[.,][0-9]{{1,3}})?|[a-zäöüß -]{{2,24}}?){_UNIT}\.?")
_ASIDE = re.compile(r"(?<=\w) ?\([^()]*\)\Z")  # 2 (a boy and a girl)
_PERCENT = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,6})?)\s*%")
_OF_SO_MANY = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?/ ?(5|10|100)")
_ZERO = frozenset(
    spelled("none no - \u2013 \u2014 nil keine kein childless kinderlos no_children no_kids keine_kinder")
)
_YES = frozenset(spelled("yes y true ja wahr active member aktiv mitglied 1"))
_NO = frozenset(
    spelled(
        "no n false nein falsch none - \u2013 \u2014 inactive not_a_member no_membership inaktiv keine kein_mitglied "
        "keine_mitgliedschaft 0"
    )
)


def _number_words() -> dict[str, int]:
    """The words for 0 to 99: `forty-one`, `forty one`, `einundvierzig`."""
    found = {"ein": 1, "eine": 1}
    for units, tens in (_ENGLISH, _GERMAN):
        found |= {word: number for number, word in enumerate(units)}
        found |= {word: 10 * number for number, word in enumerate(tens, 2)}
    for ten in range(2, 10):
        for one in range(1, 10):
            english = f"{_ENGLISH[1][ten - 2]} {_ENGLISH[0][one]}"
            german = f"{_GERMAN[0][one] if one > 1 else 'ein'}und{_GERMAN[1][ten - 2]}"
            found |= dict.fromkeys((english, english.replace(" ", "-"), german.casefold()), 10 * ten + one)
    return {word.casefold(): number for word, number in found.items()}


_WORDS = _number_words()


def is_missing(value: Any) -> bool:
    """Whether nothing is said: null, a blank text or a placeholder, no number, and what holds nothing else.

    0 and false are values.
    """
    match value:
        case None:
            return True
        case str():
            return _is_placeholder(value)
        case list() | tuple():
            return all(map(is_missing, value))
        case Mapping():
            return all(map(is_missing, value.values()))
    return value is NOT_A_NUMBER


def without_missing(value: Any) -> Any:
    """`value` without the parts that say nothing."""
    match value:
        case list() | tuple():
            return [without_missing(part) for part in value if not is_missing(part)]
        case Mapping():
            return {name: without_missing(part) for name, part in value.items() if not is_missing(part)}
    return value


def _is_placeholder(text: str) -> bool:
    if len(text) > _LONGEST:
        return not text.strip()
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())
    bare = plain.strip(_AROUND)
    return not bare or bare.replace(" ", "_") in _NOTHING or bool(_TEMPLATE.fullmatch(plain) or _PHRASE.match(bare))


def number_in(value: Any, *, may_be_none: bool = False) -> Any:
    """The number that a text says, in digits or in words; "none" is 0 where there can be none. Else `value`."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return value
    plain = " ".join(value.casefold().split())
    if may_be_none and plain.rstrip(".").replace(" ", "_") in _ZERO:
        return 0
    found = _NUMBER.fullmatch(_ASIDE.sub("", plain))
    if found is None:
        return value
    number = found["number"].strip().replace(",", ".")
    if number[0].isdigit():
        return int(float(number)) if float(number).is_integer() else float(number)
    return _WORDS.get(number, value)


def share_in(value: Any) -> Any:
    """`85 %`, `8.5/10` and 85 are 0.85, `0.85` is 0.85; else `value`."""
    if isinstance(value, str) and (found := _OF_SO_MANY.fullmatch(value.strip())):
        return round(float(found[1]) / float(found[2]), 8) if float(found[1]) <= float(found[2]) else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return round(value / 100, 8) if 2 <= value <= 100 else value
    if isinstance(value, str) and (found := _PERCENT.fullmatch(value.strip())):
        return round(float(found[1].replace(",", ".")) / 100, 8)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,3}[.,]?[0-9]{0,8}", value.strip()):
        return share_in(float(value.strip().replace(",", ".")))
    return value


def yes_or_no(value: Any) -> Any:
    """True or false where a text or a number says so; else `value`."""
    text = str(value).strip().casefold() if isinstance(value, str | int) else ""
    explained = re.match(r"(yes|no|ja|nein)(?=[,;:(.\u2013\u2014]| [(\u2013\u2014-])", text)
    plain = explained[1] if explained else text.rstrip(".").replace(" ", "_")
    return True if plain in _YES else False if plain in _NO else value
