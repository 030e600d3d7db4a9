"""How the canonical attributes are entered and shown. What they are called is the registry's to say."""

from typing import Any

from django.utils.translation import gettext

from pkm.registry.controls import TEXT, Control
from pkm.registry.starter_attributes import ATTRIBUTES

_CONTROLS = {attribute.path: attribute.control for attribute in ATTRIBUTES}


def humanised(name: str) -> str:
    """A readable label for a name that nobody wrote words for: `shoe_size` is "Shoe size"."""
    return name.replace("_", " ").strip().capitalize()


def word(path: str) -> Control:
    """How `domain.segment.attribute` is entered; one of a person's own is a line of text."""
    return _CONTROLS.get(path, TEXT)


def for_script(given: Control, label: str) -> dict[str, Any]:
    """What a page's script needs to show and take in a value of this kind, in the page's language."""
    return {
        "label": label,
        "kind": given.kind,
        "options": {value: gettext(name) for value, name in given.options},
        "parts": {part.name: for_script(part.control, gettext(part.label)) for part in given.parts},
        "autocomplete": given.autocomplete,
    }
