"""One spelling for the names of fields, however an agent wrote them (pure)."""

import re
import unicodedata

# The fields of the merged profile, section by section as the page shows them (specification 2.5; names of the records).
SECTIONS: dict[str, tuple[str, ...]] = {
    "basic": ("full_name", "email", "phone", "age", "gender"),
    "location": ("address", "city", "state", "postal_code", "country"),
    "demographics": ("marital_status", "household_size", "children_count"),
    "professional": ("occupation", "education", "income_bracket", "home_ownership", "city_tier"),
    "lifestyle": (
        "diet_preference", "favorite_cuisine", "coffee_or_tea", "fitness_routine", "gym_membership",
        "shopping_preference", "grocery_store_type", "fashion_style", "transport", "sleep_chronotype",
        "eco_friendliness",
    ),
    "technology": (
        "tech_affinity", "primary_device", "favorite_social_platform", "social_media_usage_time", "content_preference",
    ),
    "interests": ("sports_interest", "gaming_preference", "travel_frequency"),
    "intents": ("needs", "wants", "desires", "intent_24h", "intent_48h", "intent_72h"),
    "brands": ("likes", "dislikes", "brand_affinities", "shopping_preferences"),
}  # fmt: skip
SCORES = ("confidence_score", "confidence", "accuracy_score", "accuracy")
LONGEST_NAME = 120  # characters; a longer one is cut, which keeps pages and rows in shape

_BOUNDARIES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[\W_]+")
_KNOWN = {
    name.replace("_", ""): name
    for name in (*(field for fields in SECTIONS.values() for field in fields), *SCORES, "user_id", "user_profile")
}


def canonical(name: str) -> str:
    """`dietPreference`, `diet_preference` and `Diet Preference` are all `diet_preference`.

    A name that the records do not know comes out in snake_case too; "" for one without a letter or digit.
    """
    plain = unicodedata.normalize("NFKC", name[: 4 * LONGEST_NAME])
    snake = _NOT_WORD.sub("_", _BOUNDARIES.sub("_", plain)).strip("_").lower()
    return _KNOWN.get(snake.replace("_", ""), snake[:LONGEST_NAME].rstrip("_"))
