"""What an agent said, as people read it (pure). Every text is an agent's own words: templates escape it, all of it."""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from agents_proxy.analyses import words as analysis_words
from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES, canonical

MOST_SHOWN = 200  # fields of one section, items of one list; the raw data has them all
LONGEST_SHOWN = 2000  # characters of one text
DEEPEST_SHOWN = 4
_NOTHING = "-"  # in place of a value that an agent left empty
_AS_WRITTEN = frozenset({"full_name", "email", "phone"})  # names and addresses are theirs to spell


@dataclass(frozen=True)
class Shown:
    """A value: one text, a list of texts, or pairs of a label and a text; exactly one of them.

    `rest` is what a text goes on with that is too long to be shown at once.
    """

    text: str = ""
    rest: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def shown(value: Any, name: str = "") -> Shown:
    """How a value of the field `name` reads."""
    if isinstance(value, dict):
        pairs = [(_label(key), text_of(part)) for key, part in list(value.items())[:MOST_SHOWN]]
        return Shown(pairs=(*pairs, *[("…", more) for more in _more(value)]))
    if isinstance(value, list):
        return Shown(items=(*(text_of(part) for part in value[:MOST_SHOWN]), *_more(value)))
    if isinstance(value, str) and len(value) > LONGEST_SHOWN:
        return Shown(text=value[:LONGEST_SHOWN], rest=value[LONGEST_SHOWN:])
    return Shown(text=_in_words(value, name))


def _more(value: Sized) -> list[str]:
    """That there is more of it than a page shows."""
    return [gettext("more in the raw data")] if len(value) > MOST_SHOWN else []


def text_of(value: Any, depth: int = DEEPEST_SHOWN) -> str:
    """A value as one text; what is nested is named by labels, never by its keys."""
    match value:
        case bool():
            text = gettext("Yes") if value else gettext("No")
        case None:
            text = _NOTHING
        case list() | dict() if not depth:
            text = gettext("more in the raw data")
        case list():
            text = ", ".join(text_of(part, depth - 1) for part in value[:MOST_SHOWN]) or _NOTHING
        case dict():
            pairs = [(_label(key), text_of(part, depth - 1)) for key, part in list(value.items())[:MOST_SHOWN]]
            text = ", ".join(f"{label}: {part}" for label, part in pairs) or _NOTHING
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({gettext('more in the raw data')})"


def _label(key: str) -> str:
    return analysis_words.label(canonical(key) or key[:100])


def _in_words(value: Any, name: str) -> str:
    """The label of a value that the records know, else the words themselves with a capital letter first."""
    text = text_of(value)
    if not isinstance(value, str) or name in _AS_WRITTEN:
        return text
    options = dict(PROMPT_ATTRIBUTES[name].control.options) if name in PROMPT_ATTRIBUTES else {}
    known = options.get(text.strip().lower().replace(" ", "_").replace("-", "_"))
    if known is not None:
        return gettext(known)
    return text[:1].upper() + text[1:] if text.islower() and not set(text) & set("@/.:") else text
