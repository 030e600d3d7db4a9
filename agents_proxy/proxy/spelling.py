"""One spelling for the names of fields, however an agent wrote them (pure)."""

import re
import unicodedata
from collections.abc import Iterable

from pkm.registry.controls import spelled
from pkm.registry.starter_attributes import ATTRIBUTES, Attribute

# Domains that share a section of the profile's page; every other section has its domain's name.
_SECTION_OF = {"identity": "basic", "contact": "basic"}
_FIRST = ("full_name", "email", "phone")  # who it is about comes before what they are like
PROMPT_ATTRIBUTES = {
    attribute.name: attribute
    for attribute in sorted(
        (attribute for attribute in ATTRIBUTES if attribute.prompt), key=lambda attribute: attribute.name not in _FIRST
    )
}


def _sections() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, attribute in PROMPT_ATTRIBUTES.items():
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


# a timeline that holds the plans of all time windows, in the nestings that `analyses.intents` reads
NESTED = ("intent_timeline", "intents", "intent_analysis")
_WINDOW = re.compile(r"^(?:intents?|plans?|next|within)?(24|48|72)(?:h|hr|hrs|hour|hours)?(?:intents?|plans?)?$")
# of a section's name, beside those of the records
_SECTION_WORDS = frozenset(
    spelled(
        "personal contact identification demographic employment career job social media tech technologies interest "
        "hobbies intent intentions needs wants desires brand household housing financial finance health wellness food "
        "dietary travel timeline preferences behavior behaviour habits digital general core"
    )
)
_OF_SECTIONS = frozenset(
    spelled(
        "and information info details detail data section profile analysis attributes summary signals metadata scores"
    )
)


def spellings(attributes: Iterable[Attribute]) -> dict[str, str]:
    """Every name by which agents may answer, without underscores → the attribute's own name."""
    return {
        other.replace("_", ""): attribute.name
        for attribute in attributes
        if attribute.prompt
        for other in (attribute.name, *attribute.prompt.aliases)
    }


_KNOWN = spellings(PROMPT_ATTRIBUTES.values()) | {
    other.replace("_", ""): name
    for name, others in {
        **dict.fromkeys(("confidence", "accuracy", "user_id", "intents", "intent_analysis"), ()),
        "confidence_score": ("overall_confidence", "confidence_level", "profile_confidence"),
        "accuracy_score": ("overall_accuracy", "accuracy_level", "profile_accuracy"),
        "user_profile": ("user_profiles",),
        "intent_timeline": ("timeline", "intents_timeline", "purchase_intent_timeline"),
    }.items()
    for other in (name, *others)
}
_DOMAINS = frozenset(word for one in ATTRIBUTES for word in one.segment.replace("_", ".").split("."))


def canonical(name: str) -> str:
    """`dietPreference`, `diet_preference` and `Diet Preference` are all `diet_preference`.

    A name that the records do not know comes out in snake_case too; "" for one without a letter or digit.
    """
    snake = snake_case(name)
    compact = snake.replace("_", "")
    if window := _WINDOW.match(compact[:40]):
        return f"intent_{window[1]}h"
    return _KNOWN.get(compact, snake[:LONGEST_NAME].rstrip("_"))


def snake_case(name: str) -> str:
    """A name as an agent wrote it, in lower case with underscores."""
    plain = unicodedata.normalize("NFKC", name[: 4 * LONGEST_NAME])
    return _NOT_WORD.sub("_", _BOUNDARIES.sub("_", plain)).strip("_").lower()


def section_of(name: str) -> str:
    """The section of the page that a field stands in; "" for what the records do not know."""
    return next((section for section, names in SECTIONS.items() if name in names), "")


def is_section(name: str) -> bool:
    """Whether a canonical name is that of a group of fields, such as `basic_information`."""
    words = set(name.split("_")) - _OF_SECTIONS
    return (bool(words) and words <= _DOMAINS | SECTIONS.keys() | _SECTION_WORDS) or name in ("metadata", "scores")


def _parts() -> dict[str, tuple[str, str]]:
    """What a part of a group is called where it stands alone, without underscores: `intent24hcategory`."""
    groups = [one for one in PROMPT_ATTRIBUTES.values() if one.control.kind == "group"]
    return {
        f"{one.name}{other}".replace("_", ""): (one.name, part.name)
        for one in groups
        for part in one.control.parts
        for other in (part.name, *part.prompt.aliases)
    }


_PARTS = _parts()


def part_of_group(name: str) -> tuple[str, str] | None:
    """The group and its part that a canonical name means: `intent_24h_category` is the category of `intent_24h`."""
    compact = name.replace("_", "")
    return _PARTS.get(re.sub(r"^(?:intents?)?(24|48|72)(?:hours?|hrs?|h)", r"intent\1h", compact))
