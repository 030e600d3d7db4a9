"""What people read and others wrote: one line of plain text, a cell of a spreadsheet, no NUL (pure)."""

import re
import unicodedata

_FORMULA = frozenset("=+-@")
_BREAKS = ("\t", "\r", "\n")
_UNSEEN_FIRST = re.compile(r"[\s\x00-\x20\u00ad\u200b-\u200f\u2060\ufeff]*")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9][0-9 .]*\Z")
# controls, format characters (bidirectional, zero-width), surrogates, private use, unassigned, line and paragraph ends
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Marks, letters and symbols by their category, yet without ink: joiners and fillers of Hangul, Khmer and Mongolian,
# the empty cell of Braille, variation selectors.
_INKLESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# One selector does show: it makes a picture of the sign before it, and a key of a digit before a keycap.
_EMOJI_STYLE = re.compile(
    "(?<=[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])\ufe0f|(?<=[#*0-9])\ufe0f(?=\u20e3)"
)
_VISIBLE = ("L", "N", "P", "S")  # how the categories of letters, numbers, punctuation and symbols begin


def without_nul(text: str) -> str:
    """`text` with U+FFFD in place of each NUL, which PostgreSQL does not take. No name here has either of them."""
    return text.replace("\0", "\ufffd") if "\0" in text else text


def is_plain(text: str) -> bool:
    """Whether `text` shows as it is written: something visible, on one line, and nothing that hides or turns it."""
    if text.isascii():
        return bool(text.strip()) and text.isprintable()
    categories = {unicodedata.category(character) for character in text}
    if categories & _REFUSED_CATEGORIES or _INKLESS.search(_EMOJI_STYLE.sub("", text)):
        return False
    return any(category.startswith(_VISIBLE) for category in categories)


def harmless_cell(text: str) -> str:
    """`text` for a cell of a CSV: what a spreadsheet might calculate gets an apostrophe in front.

    Spreadsheets look past blanks, and take full-width signs for their kin; a plain number stays one.
    """
    shown = _UNSEEN_FIRST.sub("", text, count=1)
    signed = unicodedata.normalize("NFKC", shown[:1])[:1] in _FORMULA and not _PLAIN_NUMBER.match(shown)
    return f"'{text}" if signed or text.startswith(_BREAKS) else text
