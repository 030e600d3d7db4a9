"""What people read and others wrote: one line of plain text, a cell of a spreadsheet (pure)."""

import re
import unicodedata

_FORMULA = frozenset("=+-@")
_BREAKS = ("\t", "\r", "\n")
_UNSEEN_FIRST = re.compile(r"[\s\x00-\x20\u00ad\u200b-\u200f\u2060\ufeff]*")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9][0-9 .]*\Z")
# controls, format characters (bidirectional, zero-width), surrogates, private use, unassigned, line and paragraph ends
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_plain(text: str) -> bool:
    """Whether `text` shows as it is written: something visible, on one line, and nothing that hides or turns it."""
    if not text.strip():
        return False
    if text.isascii():
        return text.isprintable()
    return not any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in text)


def harmless_cell(text: str) -> str:
    """`text` for a cell of a CSV: what a spreadsheet might calculate gets an apostrophe in front.

    Spreadsheets look past blanks, and take full-width signs for their kin; a plain number stays one.
    """
    shown = _UNSEEN_FIRST.sub("", text, count=1)
    signed = unicodedata.normalize("NFKC", shown[:1])[:1] in _FORMULA and not _PLAIN_NUMBER.match(shown)
    return f"'{text}" if signed or text.startswith(_BREAKS) else text
