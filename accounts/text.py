"""What people read and others wrote: one line of plain text (pure)."""

import unicodedata

# controls, format characters (bidirectional, zero-width), surrogates, private use, unassigned, line and paragraph ends
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_plain(text: str) -> bool:
    """Whether `text` shows as it is written: something visible, on one line, and nothing that hides or turns it."""
    if not text.strip():
        return False
    if text.isascii():
        return text.isprintable()
    return not any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in text)
