"""How the canonical attributes are entered and shown (pure). What they are called is the registry's to say."""

from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


@dataclass(frozen=True)
class Word:
    """`kind` is text, number, yesno, choice (of `options`), list, or group (of `parts`, which have a `label` each)."""

    kind: str = "text"
    label: Text = ""
    options: tuple[tuple[str, Text], ...] = ()
    parts: tuple[tuple[str, "Word"], ...] = ()
    autocomplete: str = "off"


def _choice(*options: tuple[str, Text]) -> Word:
    return Word("choice", options=options)


_NUMBER = Word("number")
_LIST = Word("list")
_HOW_MUCH = _choice(("low", _("Low")), ("medium", _("Medium")), ("high", _("High")))
_INTENT = Word(
    "group",
    parts=(
        ("category", Word(label=_("What for"))),
        ("budget", Word(label=_("Budget"))),
        ("time_window", Word(label=_("When"))),
        ("confidence", Word("number", _("How sure, from 0 to 1"))),
    ),
)
_CHOOSING = Word(
    "group",
    parts=(
        ("category_focus", Word("list", _("Categories"))),
        ("price_sensitivity", Word(label=_("How much the price matters"))),
        ("channel", Word(label=_("Where you buy"))),
    ),
)

# What is not here is one line of text.
WORDS: dict[str, Word] = {
    "identity.basic.full_name": Word(autocomplete="name"),
    "identity.basic.age": _NUMBER,
    "contact.email.email": Word(autocomplete="email"),
    "contact.phone.phone": Word(autocomplete="tel"),
    "location.home.address": Word(autocomplete="street-address"),
    "location.home.city": Word(autocomplete="address-level2"),
    "location.home.state": Word(autocomplete="address-level1"),
    "location.home.postal_code": Word(autocomplete="postal-code"),
    "location.home.country": Word(autocomplete="country-name"),
    "demographics.household.marital_status": _choice(
        ("single", _("Single")),
        ("partnered", _("Living with a partner")),
        ("married", _("Married")),
        ("divorced", _("Divorced")),
        ("widowed", _("Widowed")),
    ),
    "demographics.household.household_size": _NUMBER,
    "demographics.household.children_count": _NUMBER,
    "professional.work.home_ownership": _choice(("own", _("Own")), ("rent", _("Rent")), ("other", _("Other"))),
    "lifestyle.food.coffee_or_tea": _choice(
        ("coffee", _("Coffee")), ("tea", _("Tea")), ("both", _("Both")), ("neither", _("Neither"))
    ),
    "lifestyle.fitness.gym_membership": Word("yesno"),
    "lifestyle.shopping.shopping_preference": _choice(
        ("online", _("Online")), ("in_store", _("In a shop")), ("both", _("Both"))
    ),
    "lifestyle.habits.sleep_chronotype": _choice(
        ("early", _("Early bird")), ("between", _("In between")), ("late", _("Night owl"))
    ),
    "lifestyle.habits.eco_friendliness": _HOW_MUCH,
    "technology.use.tech_affinity": _HOW_MUCH,
    "interests.leisure.travel_frequency": _choice(
        ("never", _("Never")), ("rarely", _("Rarely")), ("sometimes", _("Sometimes")), ("often", _("Often"))
    ),
    **{f"intents.now.{name}": _LIST for name in ("needs", "wants", "desires")},
    **{f"intents.now.{name}": _INTENT for name in ("intent_24h", "intent_48h", "intent_72h")},
    **{f"brands.affinity.{name}": _LIST for name in ("likes", "dislikes", "brand_affinities")},
    "brands.affinity.shopping_preferences": _CHOOSING,
    "financial.signals.merchants": _LIST,
    "financial.signals.categories": _LIST,
}


def humanised(name: str) -> str:
    """A readable label for a name that nobody wrote words for: `shoe_size` is "Shoe size"."""
    return name.replace("_", " ").strip().capitalize()


def word(path: str) -> Word:
    """How `domain.segment.attribute` is entered; one of a person's own is a line of text."""
    return WORDS.get(path) or Word()


def for_script(given: Word, label: str) -> dict[str, Any]:
    """What a page's script needs to show and take in a value of this kind."""
    return {
        "label": label,
        "kind": given.kind,
        "options": {value: str(name) for value, name in given.options},
        "parts": {name: for_script(part, str(part.label)) for name, part in given.parts},
        "autocomplete": given.autocomplete,
    }
