"""Realistic purchases come out as documented; what is nobody's business comes out as nothing."""

from datetime import date, timedelta
from typing import Any

import pytest

from agents_proxy.financial.categories import FOCUSES, LIKES
from agents_proxy.financial.mapping import mapped
from agents_proxy.financial.shapes import Page
from agents_proxy.financial.transactions import Entry, applied, read, trimmed, written
from tests.fakes.aggregator import transaction

TODAY = date(2026, 11, 20)


def bought(merchant: str, category: str, days: list[int], **other: Any) -> list[Entry]:
    columns = {"channel": "in store", "refund": False, "pending": False, **other}
    return [
        Entry(day=(TODAY - timedelta(days=day)).isoformat(), merchant=merchant, category=category, **columns)
        for day in days
    ]


def page(**members: Any) -> Page:
    empty: dict[str, Any] = {"added": [], "modified": [], "removed": [], "next_cursor": "at-1", "has_more": False}
    return Page.model_validate({**empty, **members})


def test_half_a_year_of_a_household() -> None:
    entries = [
        *bought("Blue Bottle", "FOOD_AND_DRINK_COFFEE", list(range(1, 25))),
        *bought("Whole Foods", "FOOD_AND_DRINK_GROCERIES", list(range(2, 60, 4))),
        *bought("Target", "GENERAL_MERCHANDISE_SUPERSTORES", [3, 33, 63, 93, 123]),
        *bought("Amazon", "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", list(range(1, 90, 9)), channel="online"),
        *bought("Spotify", "ENTERTAINMENT_MUSIC_AND_AUDIO", [5, 35, 65, 95], channel="online"),
        *bought("Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", [10, 10], channel="online"),
        *bought("Landlord", "RENT_AND_UTILITIES_RENT", [1, 31, 61, 91]),
        *bought("City Clinic", "MEDICAL_PRIMARY_CARE", [4, 5, 6, 7, 8]),
    ]

    assert mapped(entries, TODAY) == {
        "likes": ["coffee", "groceries", "online marketplaces", "superstores", "music"],
        "dislikes": [],
        "brand_affinities": ["Blue Bottle", "Whole Foods", "Amazon", "Target", "Spotify"],
        "shopping_preferences": {
            "category_focus": ["food and drink", "shopping"],
            "price_sensitivity": "low",
            "channel": "in store",
        },
        "confidence": 0.9,
    }


@pytest.mark.parametrize(
    "category",
    [
        "ENTERTAINMENT_CASINOS_AND_GAMBLING", "FOOD_AND_DRINK_BEER_WINE_AND_LIQUOR",
        "GENERAL_MERCHANDISE_TOBACCO_AND_VAPE",
        "MEDICAL_PHARMACIES_AND_SUPPLEMENTS", "GOVERNMENT_AND_NON_PROFIT_DONATIONS", "GENERAL_SERVICES_CHILDCARE",
        "GENERAL_SERVICES_INSURANCE", "LOAN_PAYMENTS_CAR_PAYMENT", "TRANSFER_OUT_ACCOUNT_TRANSFER",
        "RENT_AND_UTILITIES_RENT", "INCOME_WAGES", "BANK_FEES_ATM_FEES", "A_CATEGORY_OF_TOMORROW", "",
    ],
)  # fmt: skip
def test_what_is_nobodys_business_says_nothing(category: str) -> None:
    assert mapped(bought("Somewhere", category, list(range(1, 20))), TODAY) == {}


def test_pending_old_and_returned_purchases() -> None:
    entries = [
        *bought("Pending Shop", "GENERAL_MERCHANDISE_ELECTRONICS", [1, 2, 3, 4], pending=True),
        *bought("Old Shop", "GENERAL_MERCHANDISE_ELECTRONICS", [181, 190, 200, 210]),
        *bought("Sour Shop", "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", [1, 5, 9]),
        *bought("Sour Shop", "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES", [2, 6], refund=True),
    ]

    found = mapped(entries, TODAY)

    assert (found["likes"], found["dislikes"], found["brand_affinities"]) == ([], ["Sour Shop"], [])


def test_three_purchases_on_one_day_are_no_habit_and_spellings_are_one_brand() -> None:
    once = bought("Fair Stand", "FOOD_AND_DRINK_RESTAURANT", [4, 4, 4])
    sports = "GENERAL_MERCHANDISE_SPORTING_GOODS"
    spelled = [*bought("NIKE", sports, [1]), *bought("Nike", sports, [2, 3])]

    assert mapped([*once, *spelled], TODAY)["brand_affinities"] == ["Nike"]


@pytest.mark.parametrize(("thrifty", "expected"), [(10, "high"), (5, "high"), (2, "medium"), (1, "low")])
def test_price_sensitivity(thrifty: int, expected: str) -> None:
    entries = [
        *bought("Dollar Tree", "GENERAL_MERCHANDISE_DISCOUNT_STORES", list(range(1, 1 + thrifty))),
        *bought("Macy's", "GENERAL_MERCHANDISE_DEPARTMENT_STORES", list(range(1, 11 - thrifty))),
    ]

    assert mapped(entries, TODAY)["shopping_preferences"]["price_sensitivity"] == expected


@pytest.mark.parametrize(("online", "expected"), [(7, "online"), (5, "both"), (3, "in store")])
def test_channel(online: int, expected: str) -> None:
    entries = [
        *bought("Steam", "ENTERTAINMENT_VIDEO_GAMES", list(range(online)), channel="online"),
        *bought("GameStop", "ENTERTAINMENT_VIDEO_GAMES", list(range(10 - online))),
    ]

    assert mapped(entries, TODAY)["shopping_preferences"]["channel"] == expected


def test_few_purchases_say_little() -> None:
    found = mapped(bought("", "TRAVEL_FLIGHTS", [1, 2]), TODAY)

    assert found == {
        "likes": [], "dislikes": [], "brand_affinities": [],
        "shopping_preferences": {"category_focus": ["travel"]}, "confidence": 0.0,
    }  # fmt: skip


def test_every_liked_category_has_a_focus() -> None:
    assert [name for name in LIKES if not any(name.startswith(f"{focus}_") for focus in FOCUSES)] == []


def test_a_ledger_keeps_no_description_amount_or_place() -> None:
    ledger = applied(
        {}, [page(added=[transaction("t1", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "2026-11-01")])]
    )

    assert written(ledger) == {
        "t1": ["2026-11-01", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "in store", False, False]
    }
    assert read(written(ledger)) == ledger


def test_a_transaction_whose_category_the_aggregator_doubts_is_not_kept() -> None:
    doubted = transaction("t1", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "2026-11-01", confidence="LOW")

    assert applied({}, [page(added=[doubted])]) == {}


def test_a_modified_transaction_enters_and_leaves_with_its_category() -> None:
    ride = transaction("t1", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "2026-11-01")
    clinic = transaction("t1", "City Clinic", "MEDICAL_PRIMARY_CARE", "2026-11-01")
    known = applied({}, [page(added=[ride])])

    assert applied(known, [page(modified=[clinic])]) == {}
    assert applied({}, [page(added=[clinic]), page(modified=[ride])]) == known
    assert applied({}, [page(added=[clinic], removed=[{"transaction_id": "t1"}])]) == {}


def test_a_pending_one_is_replaced_by_its_posted_one() -> None:
    pending = transaction("t1", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "2026-11-01", pending=True)
    posted = transaction("t2", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", "2026-11-02")

    after = applied({}, [page(added=[pending]), page(added=[posted], removed=[{"transaction_id": "t1"}])])

    assert list(after) == ["t2"]


def test_only_what_counts_is_kept() -> None:
    days = {name: bought("Uber", "TRAVEL_FLIGHTS", [day])[0] for name, day in [("old", 181), ("young", 180)]}
    of_before = {"rent": bought("Landlord", "RENT_AND_UTILITIES_RENT", [1])[0]}

    assert list(trimmed({**days, **of_before}, TODAY)) == ["young"]
