"""Answers in place of values: where they stand in a segment, and that their size tells nothing of them."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import cases
from consent_bridge.derived import (
    CANNOT_SAY,
    answer,
    is_timed,
    known_answers,
    repeated_answers,
    with_answers,
    with_given,
)
from consent_bridge.exports import ExportContent, ExportHeader, seal_export
from consent_bridge.keys import generate_connector_key, public_half
from pkm.registry.starter import ANSWERS, Answer

VECTORS: list[dict[str, Any]] = json.loads((cases.VECTORS / "derived.json").read_text())
NOW = "2026-11-28T12:00:00Z"
PLACE = ("identity", "basic")
ADULT = {"from": "identity.basic.birth_date", "rule": {"kind": "at_least", "of": "age", "value": 18}, "rule_version": 1}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(rule=st.sampled_from([vector["rule"] for vector in VECTORS]) | JSON, value=JSON)
def test_no_rule_and_no_value_is_an_exception(rule: object, value: object) -> None:
    assert isinstance(answer(rule, value, NOW), (bool, int, float, str))


def test_an_answer_stands_beside_its_source_and_takes_the_place_of_a_value_of_its_name() -> None:
    values = {"birth_date": "1990-05-17", "age_over_18": "as I like"}
    found = with_answers(values, PLACE, {"identity.basic.age_over_18": ADULT}, NOW)
    assert found == {"birth_date": "1990-05-17", "age_over_18": True}
    assert values["age_over_18"] == "as I like"


def test_without_a_source_there_is_no_answer() -> None:
    assert with_answers({"age_over_18": True}, PLACE, {"identity.basic.age_over_18": ADULT}, NOW) == {}
    elsewhere = {"identity.basic.age_over_18": {**ADULT, "from": "contact.email.email"}}
    assert with_answers({"email": "1990-05-17"}, PLACE, elsewhere, NOW) == {"email": "1990-05-17"}
    assert with_answers({"age_over_18": 1}, ("identity", "other"), elsewhere, NOW) == {"age_over_18": 1}


@pytest.mark.parametrize("odd", [None, [], "x", {}, {"from": 7}, {**ADULT, "from": [ADULT["from"]]}])
def test_a_definition_that_is_none_gives_no_answer(odd: object) -> None:
    assert with_answers({"birth_date": "1990-05-17"}, PLACE, {"identity.basic.x": odd}, NOW) == {
        "birth_date": "1990-05-17"
    }


@pytest.mark.parametrize("version", [2, True, "1", None])
def test_a_later_version_of_a_rule_cannot_be_said(version: object) -> None:
    later = {"identity.basic.age_over_18": {**ADULT, "rule_version": version}}
    assert with_answers({"birth_date": "1990-05-17"}, PLACE, later, NOW)["age_over_18"] == CANNOT_SAY


BIRTH, ADULT_PATH = "identity.basic.birth_date", "identity.basic.age_over_18"
GIVEN = {"app_a": {BIRTH: {ADULT_PATH: [True, "2026-11", "6KYbXSDS"]}}}  # as in derived.test.mjs


def test_a_vault_remembers_what_an_app_was_answered() -> None:
    data = {"identity": {"basic": {"age_over_18": True, "full_name": "Zoe"}}}
    given = with_given(None, "app_a", {ADULT_PATH: ADULT, "identity.basic.other": ADULT}, data, NOW)
    assert given == GIVEN
    bracket = {**ADULT, "rule": {"kind": "bracket", "of": "age", "bounds": [18]}}
    more = with_given(
        given, "app_a", {"identity.basic.bracket": bracket}, {"identity": {"basic": {"bracket": "18+"}}}, NOW
    )
    assert known_answers(more, "app_a", [BIRTH, "a.b.c"]) == {ADULT_PATH: True, "identity.basic.bracket": "18+"}
    assert known_answers(more, "app_b", [BIRTH]) == known_answers(None, "app_a", [BIRTH]) == {}


def test_an_answer_is_repeated_within_its_month_where_it_is_made_the_same_way() -> None:
    rules = {ADULT_PATH: ADULT, "identity.basic.x": None}
    assert repeated_answers(GIVEN, "app_a", rules, "2026-11-01T00:00:00Z") == {ADULT_PATH: True}
    another = {ADULT_PATH: {**ADULT, "rule": {"kind": "is_set"}}}
    for app_id, derived, at in (
        ("app_a", rules, "2026-12-01T00:00:00Z"),
        ("app_b", rules, NOW),
        ("app_a", another, NOW),
    ):
        assert repeated_answers(GIVEN, app_id, derived, at) == {}
    assert with_answers({"birth_date": "2020-05-17"}, PLACE, {ADULT_PATH: ADULT}, NOW, {ADULT_PATH: True}) == {
        "birth_date": "2020-05-17",
        "age_over_18": True,
    }


def test_an_age_changes_by_itself() -> None:
    assert is_timed(ADULT)
    assert not any(map(is_timed, [None, {}, {"rule": 7}, {**ADULT, "rule": {**ADULT["rule"], "of": "number"}}]))


def answers_of(rule: dict[str, Any], chance: random.Random) -> list[object]:
    """Some of what an answer can be, `cannot_say` among them."""
    if rule["kind"] == "bracket":
        return [CANNOT_SAY, *(answer({**rule, "of": "number"}, chance.randrange(120), NOW) for _ in range(4))]
    if rule["kind"] == "part":
        return [CANNOT_SAY, *("".join(chance.choices("0aé€😀", k=rule["characters"])) for _ in range(4))]
    return [CANNOT_SAY, True, False]


@pytest.mark.parametrize("made", ANSWERS, ids=lambda one: one.path)
def test_the_size_of_an_export_tells_nothing_of_the_answer(made: Answer) -> None:
    """Whatever else is in it, and so also where one byte more would begin another block."""
    chance, connector = random.Random(made.path), public_half(generate_connector_key())
    domain, segment, name = made.path.split(".")
    header = ExportHeader("k", "https://a.example", "usr_a", "app_a", "req_a", f"attr.{domain}.*", 1, "A" * 43)
    approved = (made.path, f"{domain}.{segment}.other")
    for beside in range(256):
        sizes = set()
        for value in answers_of(made.rule, chance):
            data = {domain: {segment: {"other": "x" * beside, name: value}}}
            content = ExportContent(header.scope, approved, data, (), NOW, {made.path: made.definition})
            sizes.add(len(seal_export(content, connector, header)))
        assert len(sizes) == 1, beside
