"""Pressure and borrowed names in an app's own words: what a hurried person is to be told of before they decide.

A courtesy, not a control: whoever knows the lists writes around them. English and German, as the pages are.
"""

import re
import unicodedata
from typing import Final

from django.utils.translation import gettext_lazy

# hurry and threats
_HURRY: Final = re.compile(
    r"""
    \b(?: urgent(?:ly)? | immediate(?:ly)? | at\ once | right\ now | (?:act|approve|confirm|respond|reply|click)\ now
      | last\ (?:chance|warning|reminder) | final\ (?:notice|warning) | or\ else | asap | expires?\ today
      | within\ (?:the\ next\ )?\w+\ (?:minutes?|hours?)
      | (?:account|card|access)\b[^.!?]{0,40}\b(?:closed|blocked|suspended|locked|deleted|deactivated|terminated)
      | verify\ your\ (?:account|identity|card) | avoid\ (?:closure|suspension|a\ fine|fees?)
      | dringend | sofort | umgehend | unverzüglich
      | letzte\ (?:chance|warnung|mahnung) | jetzt\ (?:zustimmen|bestätigen)
      | innerhalb\ von\ \w+\ (?:minuten?|stunden?)
      | (?:konto|karte|zugang)\b[^.!?]{0,40}\b(?:gesperrt|geschlossen|gelöscht|eingeschränkt)
    )\b
    """,
    re.VERBOSE,
)
_SHOUTING: Final = re.compile(r"(?=\b(\w{4,}\W+\w{3,})\b)")

_NAMES: Final = {
    gettext_lazy(
        "a bank's name"
    ): r"(?!datenbank|databank)\w*bank(?:en|s|ing)?|sparkasse\w*|credit\ union|hsbc|barclays|santander|revolut|n26",
    gettext_lazy("a payment service's name"): r"paypal|visa|mastercard|klarna|stripe|western\ union",
    gettext_lazy("an authority's name"): (
        r"police|polizei|\w*ministry|ministerium|government|court|gericht|tax\ (?:office|authority)|finanzamt|irs|hmrc"
        r"|social\ security|interpol|europol|fbi|customs|zoll|immigration"
    ),
    gettext_lazy("a well-known company's name"): (
        r"google|microsoft|amazon|facebook|whatsapp|instagram|netflix|dhl|fedex|openai"
    ),
}
_ALPHABETS: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN")


def presses(words: str) -> bool:
    """Whether they hurry, threaten, or shout: two words in a row of capitals, the first of four letters or more."""
    shouted = any(found.group(1).isupper() for found in _SHOUTING.finditer(_plain(words)))
    return shouted or _HURRY.search(_plain(words).casefold()) is not None


def borrowed_name(words: str, *, own: str) -> str:
    """Whose name stands in the words and not in what we checked of the app (`own`), or ""; translated.

    A word of letters out of two alphabets counts: it is there to look like another.
    """
    text, known = _plain(words).casefold(), _plain(own).casefold()
    for kind, names in _NAMES.items():
        pattern = rf"\b(?:{names})\b"
        if any(re.search(rf"\b{re.escape(found)}\b", known) is None for found in re.findall(pattern, text)):
            return str(kind)
    if any(len({name for name in map(_alphabet, word) if name}) > 1 for word in text.split()):
        return str(gettext_lazy("a name in look-alike letters"))
    return ""


def _plain(words: str) -> str:
    """Compatible letters are one, what cannot be seen is left out."""
    folded = unicodedata.normalize("NFKC", words)
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")


def _alphabet(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((alphabet for alphabet in _ALPHABETS if name.startswith(alphabet)), "") if letter.isalpha() else ""
