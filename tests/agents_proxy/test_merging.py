"""Merging what agents said: order, provenance, what was overridden, scores."""

from typing import Any

import pytest

from agents_proxy.analyses.merging import SPECIFIED, Merged, filled, measures, merge, metadata, same


def test_merge_follows_the_order_of_agents_and_not_of_arrival() -> None:
    fields = {"second": {"city": "Wels"}, "brand": {"city": "Linz", "likes": ["tea"]}, "public": {"age": 4}}

    assert merge(fields) == Merged(
        profile={"city": "Wels", "likes": ["tea"], "age": 4},
        provenance={"city": "second", "likes": "brand", "age": "public"},
        answers={
            "city": [("brand", "Linz"), ("second", "Wels")],
            "likes": [("brand", ["tea"])],
            "age": [("public", 4)],
        },
    )
    assert merge(fields).overridden == {"city": [("brand", "Linz")]}


def test_the_same_value_twice_overrides_nothing() -> None:
    merged = merge({"brand": {"age": 1, "gym": True}, "core": {"age": 1, "gym": 1}, "public": {"age": 2}})

    assert merged.provenance == {"age": "public", "gym": "core"}
    assert merged.overridden == {"gym": [("brand", True)], "age": [("brand", 1), ("core", 1)]}


def test_agents_outside_the_order_are_no_part_of_it() -> None:
    assert merge({"messaging": {"a": 1}}) == Merged({}, {}, {})


@pytest.mark.parametrize(
    ("profile", "scores"),
    [
        ({}, {}),
        ({"confidence": 0.4}, {"confidence_score": 0.4}),
        ({"confidence": 0.4, "confidence_score": 0}, {"confidence_score": 0}),
        ({"confidence_score": "high", "confidence": 0.4}, {"confidence_score": 0.4}),
        ({"confidence_score": "0.75", "accuracy": 90}, {"confidence_score": 0.75, "accuracy_score": 90}),
        ({"accuracy": True, "confidence": "nan", "accuracy_score": [1]}, {}),
    ],
)
def test_scores_come_from_agents_or_are_absent(profile: dict[str, Any], scores: dict[str, Any]) -> None:
    expected = {**scores, "total_fields": len(profile), "response_time_ms": None}

    assert metadata(profile, []) == expected


def test_response_time_is_the_average_of_those_that_answered() -> None:
    assert metadata({}, [100, 201]) == {"total_fields": 0, "response_time_ms": 150}


def test_the_specification_names_43_fields() -> None:
    assert len(SPECIFIED) == 43
    assert len(set(SPECIFIED)) == 43
    assert {"full_name", "city_tier", "needs", "intent_72h"} < set(SPECIFIED)
    assert "likes" not in SPECIFIED


def test_coverage_is_the_share_of_the_specified_fields() -> None:
    four = {"full_name": "Ana", "age": 41, "gym_membership": False, "needs": ["a lamp"]}
    merged = merge({"core": {**four, "shoe_size": 38, "likes": ["tea"], "confidence_score": 1}})

    assert measures(merged) == {"coverage": round(4 / 43, 4), "agreement": None}
    assert measures(merge({})) == {"coverage": 0.0, "agreement": None}


def test_a_nested_intent_fills_its_field() -> None:
    assert filled({"intent_timeline": {"24h": {"category": "Tea"}, "72_hours": []}}) == {"intent_24h"}


@pytest.mark.parametrize(
    ("fields", "agreement"),
    [
        ({"brand": {"city": "Linz"}}, None),
        ({"brand": {"city": "Linz"}, "core": {"city": " linz "}}, 1.0),
        ({"brand": {"city": "Linz"}, "core": {"city": "Wels"}, "public": {"city": "Linz"}}, 0.0),
        ({"brand": {"city": "Linz", "age": 41}, "core": {"city": "Wels", "age": "41"}}, 0.5),
        ({"brand": {"confidence": 0.4, "user_id": "a"}, "core": {"confidence": 0.9, "user_id": "b"}}, None),
    ],
)
def test_agreement_is_measured_where_several_agents_speak(fields: Any, agreement: float | None) -> None:
    assert measures(merge(fields)).get("agreement") == agreement


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("+49 151 2345-6789", "+4915123456789", True),
        ("+4915123456789", "+4915123456780", False),
        (["Tea", "Muji"], ["muji", "tea"], True),
        ({"priceSensitivity": "Low"}, {"price_sensitivity": "low"}, True),
        (1, True, False),
        (41, "41.0", True),
        ("Nurse.", "nurse", True),
        ("Nurse", "Night nurse", False),
        (None, "null", False),
    ],
)
def test_values_are_the_same_however_they_are_spelled(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal
