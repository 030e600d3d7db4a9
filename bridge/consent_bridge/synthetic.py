"""What a sandbox person keeps unless told otherwise: somebody who does not exist, with every usual segment filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Segments = Mapping[tuple[str, str], Mapping[str, Any]]

_LATER = {"category": "Travel", "budget": "300 to 500 EUR", "time_window": "72 hours", "confidence": 0.7}

# (domain, segment) → attribute → value; address, number and place are such as are kept for examples
SYNTHETIC_PROFILE: Segments = {
    ("identity", "basic"): {"full_name": "Ada Sample", "age": 36, "gender": "female"},
    ("contact", "email"): {"email": "ada.sample@example.org"},
    ("contact", "phone"): {"phone": "+12025550123"},
    ("location", "home"): {
        "address": "1 Example Street",
        "city": "Lisbon",
        "state": "Lisbon",
        "postal_code": "1000-001",
        "country": "Portugal",
    },
    ("demographics", "household"): {"marital_status": "married", "household_size": 3, "children_count": 1},
    ("professional", "work"): {
        "occupation": "Engineer",
        "education": "Master's degree",
        "income_bracket": "Middle",
        "home_ownership": "Rents",
        "city_tier": "1",
    },
    ("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "Tea"},
    ("lifestyle", "fitness"): {"fitness_routine": "Runs twice a week", "gym_membership": False},
    ("lifestyle", "shopping"): {
        "shopping_preference": "Online",
        "grocery_store_type": "Organic",
        "fashion_style": "casual",
    },
    ("lifestyle", "habits"): {"transport": "Bicycle", "sleep_chronotype": "Early", "eco_friendliness": "High"},
    ("technology", "use"): {
        "tech_affinity": "High",
        "primary_device": "Phone",
        "favorite_social_platform": "Mastodon",
        "social_media_usage_time": "30 minutes a day",
        "content_preference": "Long articles",
    },
    ("interests", "leisure"): {
        "sports_interest": "Climbing",
        "gaming_preference": "Board games",
        "travel_frequency": "Four trips a year",
    },
    ("intents", "now"): {"needs": ["Running shoes"], "wants": ["A weekend in Porto"], "intent_72h": _LATER},
    ("brands", "affinity"): {"likes": ["Sample Shoes"], "dislikes": ["Sample Cola"]},
    ("financial", "signals"): {"spend_bracket": "Middle", "categories": ["Books", "Train tickets"]},
}
