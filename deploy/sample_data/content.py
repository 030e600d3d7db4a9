"""What the sample owner keeps, and the application of the sample app."""

from typing import Any

from deploy.sample_data.sample_person import SAMPLE

OWNER_DATA: dict[tuple[str, str], dict[str, Any]] = {
    ("identity", "basic"): {"full_name": SAMPLE["fullName"], "age": 34, "birth_date": "1992-03-14", "gender": "female"},
    ("contact", "email"): {"email": SAMPLE["email"]},
    ("location", "home"): {"city": "Leipzig", "postal_code": "04103", "country": "Germany"},
    ("demographics", "household"): {"marital_status": "married", "household_size": 3, "children_count": 1},
    ("professional", "work"): {"occupation": "Landscape architect", "education": "Master's degree"},
    ("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "Coffee"},
    ("lifestyle", "fitness"): {"fitness_routine": "Climbing twice a week", "gym_membership": True},
    ("technology", "use"): {"primary_device": "Android phone", "social_media_usage_time": "30 minutes a day"},
    ("interests", "leisure"): {"travel_frequency": "Four trips a year", "gaming_preference": "Board games"},
    ("financial", "signals"): {"spend_bracket": "Middle", "categories": ["Books", "Train tickets"]},
}

# What an older system kept of her: old and new values, one that differs from now, one that has no place here.
OLD_DATA: dict[str, dict[str, Any]] = {
    "lifestyle": {
        "favorite_cuisine": "Georgian",
        "food": {"favourite_dessert": "Mango"},
        "habits": {"transport": "Bicycle", "sleep_chronotype": "Early bird"},
        "shoe_size": 41,
    },
    "brands": {"likes": ["Patagonia", "Fairphone"], "dislikes": ["Fast fashion"]},
}
OLD_DATA_CHANGED = "2024-05-17T09:30:00Z"

# of examples/shop.py and examples/age_gate.py, for which no staff would be asked on this machine
EXAMPLE_ORIGINS = ["http://127.0.0.1:8090", "http://127.0.0.1:8091"]

SAMPLE_APPLICATION: dict[str, Any] = {
    "name": "Trip Planner",
    "legal_name": "Trip Planner Europe AB",
    "website": "https://trips.example",
    "privacy_policy": "https://trips.example/privacy",
    "contact_email": "privacy@trips.example",
    "origins": ["https://trips.example", *EXAMPLE_ORIGINS],
    "use_case": "Suggest restaurants and things to do along a journey.",
    "needed_scopes": ["attr.lifestyle.food.*", "attr.interests.leisure.*", "attr.technology.use.*"],
}

# The number that an analysis of the owner names, and the message that the trip sends there.
OWNER_NUMBER = SAMPLE["countryCode"] + SAMPLE["phoneNumber"]
MESSAGE_TEMPLATE, MESSAGE_PLACE = "trip_ready", "Lake Constance"
MESSAGE_TEXT = "Hello {name}, your trip to {place} is planned. Have a look at it when you have a minute."
