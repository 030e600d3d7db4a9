"""Purchases of invented people at invented shops, day by day: the same for the same seed, and new ones as days pass.

What happened is a list of events. A purchase comes as `added`, some of them pending, and those come once more the next
day as `modified`. So whoever reads on from where they stopped gets exactly what was new.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from examples.neighbourhood.customers import CUSTOMERS

_PENDING, _RETURNED = 0.3, 0.6  # shares: of the newest purchases, and of what `fast_fashion` sold

Event = tuple[str, dict[str, Any]]  # "added" or "modified", and the transaction


@dataclass(frozen=True)
class Shop:
    """An invented shop; `price` is the range of a purchase in euros."""

    name: str
    category: str  # the aggregator's detailed one
    price: tuple[float, float]
    channel: str = "in store"


SHOPS: dict[str, tuple[Shop, ...]] = {
    "tea": (Shop("Harbour Tea", "FOOD_AND_DRINK_COFFEE", (4, 19)),),
    "coffee": (
        Shop("Kranich Coffee", "FOOD_AND_DRINK_COFFEE", (3, 9)),
        Shop("Second Cup of Kiel", "FOOD_AND_DRINK_COFFEE", (3, 8)),
    ),
    "groceries": (
        Shop("Gartenreich Market", "FOOD_AND_DRINK_GROCERIES", (11, 74)),
        Shop("Korn & Kresse", "FOOD_AND_DRINK_GROCERIES", (8, 46)),
    ),
    "discount": (Shop("Sparhimmel", "GENERAL_MERCHANDISE_DISCOUNT_STORES", (6, 58)),),
    "restaurants": (
        Shop("Trattoria Settembre", "FOOD_AND_DRINK_RESTAURANT", (18, 67)),
        Shop("Lantern House", "FOOD_AND_DRINK_RESTAURANT", (14, 49)),
    ),
    "outdoor": (Shop("Fjellpfad Outdoor", "GENERAL_MERCHANDISE_SPORTING_GOODS", (22, 189)),),
    "bicycle": (Shop("Radwerk Nord", "TRANSPORTATION_BIKES_AND_SCOOTERS", (9, 96)),),
    "books": (Shop("Papierkranich Books", "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS", (9, 42), "online"),),
    "trains": (Shop("Mittelland Rail", "TRANSPORTATION_PUBLIC_TRANSIT", (3, 64), "online"),),
    "rides": (Shop("Hopp Rides", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", (7, 31), "online"),),
    "concerts": (Shop("Blauton Tickets", "ENTERTAINMENT_MUSIC_AND_AUDIO", (19, 88), "online"),),
    "games": (Shop("Pixelhafen", "ENTERTAINMENT_VIDEO_GAMES", (5, 60), "online"),),
    "electronics": (Shop("Stromkontor", "GENERAL_MERCHANDISE_ELECTRONICS", (15, 420), "online"),),
    "pets": (Shop("Pfotenladen", "GENERAL_MERCHANDISE_PET_SUPPLIES", (8, 55)),),
    "toys": (Shop("Kiste & Kreisel", "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", (9, 70), "online"),),
    "gym": (Shop("Bewegungshaus", "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS", (25, 25)),),
    "flights": (Shop("Skylark Air", "TRAVEL_FLIGHTS", (79, 460), "online"),),
    "hotels": (Shop("Hotel Drei Linden", "TRAVEL_LODGING", (68, 240), "online"),),
    "fast_fashion": (Shop("Modeblitz", "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", (12, 79), "online"),),
}
# what nobody else's business is, and so never reaches a profile: on the first of a month, and now and then
_MONTHLY = (
    Shop("Hausverwaltung Sonnental", "RENT_AND_UTILITIES_RENT", (780, 780), "other"),
    Shop("Stadtwerke Beispielhausen", "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY", (64, 91), "other"),
)
_WAGES = Shop("Employer of the example", "INCOME_WAGES", (-2650, -2650), "other")
_PHARMACY = Shop("Apotheke am Beispielplatz", "MEDICAL_PHARMACIES_AND_SUPPLEMENTS", (5, 38))


def events_of(seed: str, customer: str, day: date) -> list[Event]:
    """What the bank tells on this day: yesterday's pending purchases as they were booked, then the new ones."""
    booked = [{**one, "pending": False} for one in _bought(seed, customer, day - timedelta(days=1)) if one["pending"]]
    return [*(("modified", one) for one in booked), *(("added", one) for one in _bought(seed, customer, day))]


def days(first: date, last: date) -> Iterator[date]:
    """Both included."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


@lru_cache(maxsize=4096)
def _bought(seed: str, customer: str, day: date) -> tuple[dict[str, Any], ...]:
    """The transactions of one day; a random generator of its own for each day keeps days apart."""
    chance = random.Random(f"{seed} {day.isoformat()}")  # noqa: S311  # invented purchases, no secret  # nosec B311
    found: list[tuple[Shop, float]] = []
    for taste, weekly in CUSTOMERS[customer].tastes.items():
        if chance.random() < min(weekly / 7, 0.95):
            shop = chance.choice(SHOPS[taste])
            found.append((shop, 1.0))
            if taste == "fast_fashion" and chance.random() < _RETURNED:
                found.append((shop, -1.0))
    if day.day == 1:
        found += [(shop, 1.0) for shop in (*_MONTHLY, _WAGES)]
    if chance.random() < 1 / 30:
        found.append((_PHARMACY, 1.0))
    return tuple(_transaction(seed, day, number, shop, sign, chance) for number, (shop, sign) in enumerate(found))


def _transaction(seed: str, day: date, number: int, shop: Shop, sign: float, chance: random.Random) -> dict[str, Any]:
    """In the shape of `/transactions/sync`, but for its account; money out is positive."""
    detailed = shop.category
    primary = next(group for group in _GROUPS if detailed.startswith(f"{group}_"))
    return {
        "transaction_id": f"txn-{seed}-{day:%Y%m%d}-{number}",
        "amount": round(sign * chance.uniform(*shop.price), 2),
        "iso_currency_code": "EUR",
        "date": day.isoformat(),
        "authorized_date": day.isoformat(),
        "name": shop.name.upper(),
        "merchant_name": shop.name,
        "counterparties": [{"name": shop.name, "type": "merchant", "confidence_level": "VERY_HIGH"}],
        "payment_channel": shop.channel,
        "pending": chance.random() < _PENDING,
        "personal_finance_category": {"primary": primary, "detailed": detailed, "confidence_level": "VERY_HIGH"},
    }


_GROUPS = (
    "FOOD_AND_DRINK", "GENERAL_MERCHANDISE", "HOME_IMPROVEMENT", "PERSONAL_CARE", "ENTERTAINMENT", "TRAVEL",
    "TRANSPORTATION", "RENT_AND_UTILITIES", "INCOME", "MEDICAL",
)  # fmt: skip
