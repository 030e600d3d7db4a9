"""One spelling for the names of fields, however an agent wrote them (pure)."""

import re
import unicodedata
from collections.abc import Iterable

from pkm.registry.starter_attributes import ATTRIBUTES, Attribute

# Domains that share a section of the profile's page; every other section has its domain's name.
_SECTION_OF = {"identity": "basic", "contact": "basic"}
_FIRST = ("full_name", "email", "phone")  # who it is about comes before what they are like
ASKED = {
    attribute.name: attribute
    for attribute in sorted(
        (attribute for attribute in ATTRIBUTES if attribute.asked), key=lambda attribute: attribute.name not in _FIRST
    )
}


def _sections() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, attribute in ASKED.items():
        domain = attribute.path.partition(".")[0]
        section = _SECTION_OF.get(domain, domain)
        found[section] = (*found.get(section, ()), name)
    return found


# The fields of the merged profile, section by section as the page shows them (specification 2.5; names of the records).
SECTIONS = _sections()
SCORES = ("confidence_score", "confidence", "accuracy_score", "accuracy")
LONGEST_NAME = 120  # characters; a longer one is cut, which keeps pages and rows in shape

_BOUNDARIES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[\W_]+")


def spellings(attributes: Iterable[Attribute]) -> dict[str, str]:
    """Every name by which agents may answer, without underscores → the attribute's own name."""
    return {
        other.replace("_", ""): attribute.name
        for attribute in attributes
        if attribute.asked
        for other in (attribute.name, *attribute.asked.aliases)
    }


_KNOWN = spellings(ASKED.values()) | {name.replace("_", ""): name for name in (*SCORES, "user_id", "user_profile")}


def canonical(name: str) -> str:
    """`dietPreference`, `diet_preference` and `Diet Preference` are all `diet_preference`.

    A name that the records do not know comes out in snake_case too; "" for one without a letter or digit.
    """
    plain = unicodedata.normalize("NFKC", name[: 4 * LONGEST_NAME])
    snake = _NOT_WORD.sub("_", _BOUNDARIES.sub("_", plain)).strip("_").lower()
    return _KNOWN.get(snake.replace("_", ""), snake[:LONGEST_NAME].rstrip("_"))
