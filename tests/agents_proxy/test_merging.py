"""Merging what agents said: order, provenance, what was overridden, scores."""

from typing import Any

import pytest

from agents_proxy.analyses.merging import Merged, merge, metadata


def test_merge_follows_the_order_of_agents_and_not_of_arrival() -> None:
    said = {"second": {"city": "Wels"}, "brand": {"city": "Linz", "likes": ["tea"]}, "public": {"age": 4}}

    assert merge(said) == Merged(
        profile={"city": "Wels", "likes": ["tea"], "age": 4},
        provenance={"city": "second", "likes": "brand", "age": "public"},
        overridden={"city": [("brand", "Linz")]},
    )


def test_the_same_value_twice_overrides_nothing() -> None:
    merged = merge({"brand": {"age": 1, "gym": True}, "core": {"age": 1, "gym": 1}, "public": {"age": 2}})

    assert merged.provenance == {"age": "public", "gym": "core"}
    assert merged.overridden == {"gym": [("brand", True)], "age": [("core", 1)]}


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
