"""Intents are found in whatever nesting agents wrote them."""

from typing import Any

import pytest

from agents_proxy.analyses.intents import intents, is_drawn_whole

TEA = {"category": "Tea", "budget": "5 €", "timeWindow": "today", "confidence": 0.9}
READ = {"category": "Tea", "budget": "5 €", "time_window": "today", "confidence": 0.9}
NESTED: list[Any] = [
    {"24h": TEA, "48h": [TEA], "72h": {}},
    {"24_hours": TEA, "48 hours": TEA},
    {"intent_24h": TEA, "next48Hours": "Tea"},
    {"timeline": {"24h": [TEA], "48h": TEA}},
    [{**TEA, "timeWindow": "24 hours"}, {**TEA, "window": "48h"}],
    {"intent_timeline": [{**TEA, "hours": 24}, {**TEA, "horizon": "48h"}]},
]


@pytest.mark.parametrize("nested", NESTED)
def test_a_nested_timeline_is_read_in_all_its_shapes(nested: Any) -> None:
    found = intents({"intent_timeline": nested})

    assert [len(found[hours]) for hours in (24, 48, 72)] == [1, 1, 0]
    assert {entry["category"] for entries in found.values() for entry in entries} == {"Tea"}
    assert is_drawn_whole(nested)


def test_an_entry_keeps_what_was_said() -> None:
    assert intents({"intent_timeline": {"24h": TEA}}) == {24: [READ], 48: [], 72: []}


def test_the_profiles_own_fields_come_first_and_nothing_twice() -> None:
    own = {"intent_24h": TEA, "intent_48h": ["Concert", "Shoes"], "intent_timeline": {"24h": [TEA, "Bread"]}}

    assert intents(own) == {
        24: [READ, {"category": "Bread"}],
        48: [{"category": "Concert"}, {"category": "Shoes"}],
        72: [],
    }


@pytest.mark.parametrize(
    "odd",
    [None, "soon", 24, True, {"124h": TEA}, {"24h": {"when": "soon"}}, [[[[[[{"hours": 24, **TEA}]]]]]], {"a": {}}],
)
def test_what_is_no_timeline_is_none(odd: Any) -> None:
    assert intents({"intent_timeline": odd}) == {24: [], 48: [], 72: []}
    assert not is_drawn_whole(odd)
