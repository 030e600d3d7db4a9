"""Which transactions are looked at, and which are kept: the list of docs/financial.md (pure)."""

WINDOW = 180  # days that count

# Only what is listed here is looked at. Left out on purpose: money moved, lent and owed, rent, health, government,
# gifts to causes, gambling, alcohol, tobacco, childcare, law and insurance.
FOCUSES: dict[str, str] = {
    "FOOD_AND_DRINK": "food and drink",
    "GENERAL_MERCHANDISE": "shopping",
    "HOME_IMPROVEMENT": "home",
    "PERSONAL_CARE": "personal care",
    "ENTERTAINMENT": "entertainment",
    "TRAVEL": "travel",
    "TRANSPORTATION": "transport",
}
LIKES: dict[str, str] = {
    "FOOD_AND_DRINK_COFFEE": "coffee",
    "FOOD_AND_DRINK_FAST_FOOD": "fast food",
    "FOOD_AND_DRINK_GROCERIES": "groceries",
    "FOOD_AND_DRINK_RESTAURANT": "restaurants",
    "FOOD_AND_DRINK_VENDING_MACHINES": "snacks",
    "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS": "books",
    "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES": "clothing",
    "GENERAL_MERCHANDISE_CONVENIENCE_STORES": "convenience stores",
    "GENERAL_MERCHANDISE_DEPARTMENT_STORES": "department stores",
    "GENERAL_MERCHANDISE_DISCOUNT_STORES": "discount stores",
    "GENERAL_MERCHANDISE_ELECTRONICS": "electronics",
    "GENERAL_MERCHANDISE_OFFICE_SUPPLIES": "office supplies",
    "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES": "online marketplaces",
    "GENERAL_MERCHANDISE_PET_SUPPLIES": "pets",
    "GENERAL_MERCHANDISE_SPORTING_GOODS": "sports",
    "GENERAL_MERCHANDISE_SUPERSTORES": "superstores",
    "HOME_IMPROVEMENT_FURNITURE": "furniture",
    "HOME_IMPROVEMENT_HARDWARE": "doing it yourself",
    "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS": "fitness",
    "PERSONAL_CARE_HAIR_AND_BEAUTY": "beauty",
    "ENTERTAINMENT_MUSIC_AND_AUDIO": "music",
    "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS": "events and museums",
    "ENTERTAINMENT_TV_AND_MOVIES": "film and television",
    "ENTERTAINMENT_VIDEO_GAMES": "video games",
    "TRAVEL_FLIGHTS": "flying",
    "TRAVEL_LODGING": "hotels",
    "TRAVEL_RENTAL_CARS": "rental cars",
    "TRANSPORTATION_BIKES_AND_SCOOTERS": "bikes and scooters",
    "TRANSPORTATION_PUBLIC_TRANSIT": "public transport",
    "TRANSPORTATION_TAXIS_AND_RIDE_SHARES": "ride shares",
}
