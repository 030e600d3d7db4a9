"""What four agents say of somebody of whom everything is known: every field of the specification's 2.5 and 2.6."""

from typing import Any

FULL: dict[str, dict[str, Any]] = {
    "brand": {
        "full_name": "Ana Sá", "email": "ana@example.org", "phone": "+3519123456789", "city": "Linz",
        "likes": ["Muji", "tea", "Patagonia", "trail running"], "dislikes": ["Fast fashion", "Nestlé"],
        "brand_affinities": ["Uniqlo", "IKEA", "Decathlon"], "shopping_preference": "online",
        "shopping_preferences": {
            "category_focus": ["home", "sports"], "price_sensitivity": "medium", "channel": "online",
        },
        "confidence": 0.6,
    },
    "core": {
        "full_name": "Ana Sá", "email": "ana@example.org", "phone": "+351 912 345 6789", "age": 41,
        "gender": "female", "occupation": "Nurse", "education": "Bachelor of Science", "marital_status": "married",
        "household_size": 4, "children_count": 2, "diet_preference": "vegetarian", "favorite_cuisine": "Portuguese",
        "coffee_or_tea": "tea", "gym_membership": False, "needs": ["a lamp", "winter tyres"],
        "wants": ["a road bike"], "desires": ["a garden", "more time"], "user_id": "u-1",
    },
    "public": {
        "address": "Kaiserpromenade 12", "city": "Salzburg", "state": "Salzburg", "postal_code": "5640",
        "country": "Austria", "income_bracket": "middle", "home_ownership": "rents", "city_tier": "tier 2",
        "shopping_preference": "in store", "grocery_store_type": "organic", "fashion_style": "casual",
        "transport": "train", "tech_affinity": "high", "primary_device": "phone", "age": 43,
        "intent_timeline": {
            "24h": {"category": "Groceries", "budget": "60 €", "timeWindow": "today", "confidence": 0.9},
            "48h": [{"category": "Running shoes", "budget": "120 €", "confidence": 0.6}, {"category": "Concert"}],
            "72_hours": {"category": "Weekend trip", "budget": "300 €", "timeWindow": "Friday", "confidence": 0.4},
        },
    },
    "second": {
        "city": "Bad Gastein", "fitness_routine": "runs twice a week", "sleep_chronotype": "early bird",
        "eco_friendliness": "high", "favorite_social_platform": "Instagram",
        "social_media_usage_time": "one hour a day", "content_preference": "video", "sports_interest": "running",
        "gaming_preference": "puzzles", "travel_frequency": "twice a year", "tech_affinity": "High",
        "confidence_score": 0.9, "accuracy_score": 0.8, "shoe_size": 38,
    },
}  # fmt: skip
