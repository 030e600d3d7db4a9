"""What people read and others wrote: one line of plain text, a cell of a spreadsheet, no NUL (pure)."""

import re
import unicodedata

from django.utils.functional import Promise

StrOrPromise = str | Promise  # a text, or one that is translated once somebody reads it

_FORMULA = frozenset("=+-@")
_BREAKS = ("\t", "\r", "\n")
_UNSEEN_FIRST = re.compile(r"[\s\x00-\x20\u00ad\u200b-\u200f\u2060\ufeff]*")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9][0-9 .]*\Z")
# controls, format characters (bidirectional, zero-width), surrogates, private use, line and paragraph ends
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

# Marks, letters and symbols by their category, yet without ink: joiners and fillers of Hangul, Khmer and Mongolian, the
# empty cell of Braille, variation selectors. Then what an interpreter may only know as unassigned: format characters of
# hieroglyphs, what is reserved for signs that nobody sees, and noncharacters.
_INKLESS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\u2065\ufff0-\ufff8\U00013439-\U0001343f\U000e0000-\U000e0fff\ufdd0-\ufdef"
    f"{''.join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))}]"
)
_FLAGS = ("gbeng", "gbsct", "gbwls")
# Some of them show in the sign before them: a selector makes a picture or a text sign of it, or a key of a digit before
# a keycap, or chooses the form of a Mongolian letter or an ideograph; tags make the flags of parts of Great Britain.
_SHOWN = re.compile(
    "(?<=[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])(?:\ufe0f|\ufe0e(?!\u200d))|(?<=[#*0-9])[\ufe0e\ufe0f](?=\u20e3)"
    "|(?<=[\u1820-\u1884\u1887-\u18aa])[\u180b-\u180d\u180f]"
    "|(?<=[\u3400-\u4dbf\u4e00-\u9fff\ufa0e-\ufa29\U00020000-\U0003fffd])[\U000e0100-\U000e01ef]"
    f"|(?<=\U0001f3f4)(?:{'|'.join(''.join(chr(0xE0000 + ord(sign)) for sign in flag) for flag in _FLAGS)})\U000e007f"
)
# Two joiners are part of how words are written in Arabic, Syriac, N'Ko and the scripts of India and its neighbours, and
# one of them of emoji that are made of several. Between two such signs they show; anywhere else they hide.
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_JOINING = re.compile(
    "[\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc]"
)
_PICTURE = re.compile(
    "[\u00a9\u00ae\u203c-\u2049\u2122-\u21ff\u2300-\u23ff\u24c2\u25a0-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_UNASSIGNED = "Cn"  # what a later Unicode version has, such as a new emoji, is taken for a visible sign
_VISIBLE = ("L", "N", "P", "S", _UNASSIGNED)  # how categories begin: letters, numbers, punctuation, symbols


def without_nul(text: str) -> str:
    """`text` with U+FFFD in place of each NUL, which PostgreSQL does not take. No name here has either of them."""
    return text.replace("\0", "\ufffd") if "\0" in text else text


def is_plain(text: str) -> bool:
    """Whether `text` shows as it is written: something visible, on one line, and nothing that hides or turns it."""
    if text.isascii():
        return bool(text.strip()) and text.isprintable()
    text = _without_joiners(_SHOWN.sub("", text))
    categories = {unicodedata.category(character) for character in text}
    if categories & _REFUSED_CATEGORIES or _INKLESS.search(text):
        return False
    return any(category.startswith(_VISIBLE) for category in categories)


def _without_joiners(text: str) -> str:
    """`text` without the joiners that show in what they join."""
    if _NON_JOINER not in text and _JOINER not in text:
        return text
    return "".join(sign for at, sign in enumerate(text) if sign not in (_NON_JOINER, _JOINER) or not _joins(text, at))


def _joins(text: str, at: int) -> bool:
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if not before or not after:
        return False
    if _is_of_a_word(before) and _is_of_a_word(after):
        return True
    return text[at] == _JOINER and bool(_PICTURE.match(before) and _PICTURE.match(after))


def _is_of_a_word(sign: str) -> bool:
    """A letter or its mark, of a script whose letters join."""
    return bool(_JOINING.match(sign)) and unicodedata.category(sign).startswith(("L", "M", _UNASSIGNED))


def harmless_cell(text: str) -> str:
    """`text` for a cell of a CSV: what a spreadsheet might calculate gets an apostrophe in front.

    Spreadsheets look past blanks, and take full-width signs for their kin; a plain number stays one.
    """
    shown = _UNSEEN_FIRST.sub("", text, count=1)
    signed = unicodedata.normalize("NFKC", shown[:1])[:1] in _FORMULA and not _PLAIN_NUMBER.match(shown)
    return f"'{text}" if signed or text.startswith(_BREAKS) else text
