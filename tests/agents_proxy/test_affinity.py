"""Brand affinity: the specification's shape, what does not fit it, the files for a CRM, and sending to one."""

import csv
import io
import json
from typing import Any

import pytest

from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.exports import as_csv


def test_a_whole_profile_gives_the_whole_shape() -> None:
    profile = {
        "full_name": "Ana Sá", "email": "ana@example.org", "phone": "+3519123456789", "likes": ["Muji"],
        "dislikes": ["Shein"], "brand_affinities": ["Muji", "Uniqlo"], "confidence": 0.5, "age": 41,
        "shopping_preferences": {"categoryFocus": ["home"], "price_sensitivity": "high", "channel": "online", "x": 1},
    }  # fmt: skip

    found = affinity_of(profile)
    assert found.misfits == ()
    assert found.affinity.body() == {
        "fullName": "Ana Sá", "email": "ana@example.org", "phone": "+3519123456789", "likes": ["Muji"],
        "dislikes": ["Shein"], "brand_affinities": ["Muji", "Uniqlo"], "confidence": 0.5,
        "shopping_preferences": {"category_focus": ["home"], "price_sensitivity": "high", "channel": "online"},
    }  # fmt: skip


def test_what_nobody_said_is_absent() -> None:
    found = affinity_of({"full_name": "Ana"})
    assert (found.affinity.body(), found.misfits, found.affinity.has_preferences) == ({"fullName": "Ana"}, (), False)


@pytest.mark.parametrize(
    ("field", "value", "taken"),
    [
        ("likes", "tea", ["tea"]),
        ("likes", {"a": 1}, None),
        ("likes", ["a", 1], None),
        ("likes", ["a", "", None, " "], ["a"]),
        ("likes", ["a", "", 1], None),
        ("email", 5, None),
        ("confidence", "0.5", 0.5),
        ("confidence", "high", None),
        ("confidence", 1, 1.0),
        ("shopping_preferences", "online", None),
        ("shopping_preferences", {"channel": ["online"]}, None),
        ("shopping_preferences", {"category_focus": ["home", ""]}, {"category_focus": ["home"]}),
        ("shopping_preferences", {"category_focus": "home"}, {"category_focus": ["home"]}),
    ],
)
def test_values_are_checked_member_by_member(field: str, value: Any, taken: Any) -> None:
    found = affinity_of({field: value, "dislikes": ["x"]})

    assert found.affinity.body() == {"dislikes": ["x"], **({field: taken} if taken is not None else {})}
    assert found.misfits == (() if taken is not None else (field,))


def test_a_list_of_blanks_says_nothing() -> None:
    found = affinity_of({"likes": ["", None], "shopping_preferences": {"category_focus": [" "]}})
    assert (found.affinity.has_preferences, found.misfits) == (False, ())


def test_csv_reads_back_and_holds_no_formula() -> None:
    profile = {
        "full_name": '=HYPERLINK("x")', "phone": "+351 912", "likes": ["@a", 'b, "c"', "=1+1"], "dislikes": ["-1+2"],
        "confidence": 0.5, "shopping_preferences": {"channel": "+cmd"},
    }  # fmt: skip
    heading, row = csv.reader(io.StringIO(as_csv(affinity_of(profile).affinity)))

    assert dict(zip(heading, row, strict=True)) == {
        "fullName": '\'=HYPERLINK("x")', "email": "", "phone": "+351 912", "likes": "'@a; b, \"c\"; '=1+1",
        "dislikes": "'-1+2", "brand_affinities": "", "category_focus": "", "price_sensitivity": "",
        "channel": "'+cmd", "confidence": "0.5",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["\n=1+1", "\tx", "\r-1", "\nx", " =cmd()", "\u00a0=1", "\ufeff=1", " \u200b \ufeff +a"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_no_cell_is_a_formula_however_it_begins(text: str, sign: str) -> None:
    for name in (text, f"{sign}1+1", f" {sign}cmd()"):
        _, row = csv.reader(io.StringIO(as_csv(affinity_of({"full_name": name}).affinity), newline=""))
        assert row[0] == f"'{name}"


@pytest.mark.parametrize("text", ["+351 912", " -5", "a=b", "Ana - Sá"])
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    _, row = csv.reader(io.StringIO(as_csv(affinity_of({"full_name": text}).affinity), newline=""))
    assert row[0] == text


@pytest.mark.parametrize(
    ("profile", "confidence"),
    [
        ({"confidence_score": 0.7}, 0.7),
        ({"confidence": 0.5, "confidence_score": 0.7}, 0.5),
        ({"confidence": 0, "confidence_score": 0.7}, 0.0),
        ({"confidence": "high", "confidence_score": "0.7"}, 0.7),
    ],
)
def test_the_confidence_of_the_whole_stands_in_for_the_brands(profile: dict[str, Any], confidence: float) -> None:
    found = affinity_of({"likes": ["tea"], **profile})

    assert (found.affinity.confidence, found.misfits) == (confidence, ())


def test_the_body_is_json() -> None:
    assert json.loads(json.dumps(affinity_of({"likes": ["ä"]}).affinity.body())) == {"likes": ["ä"]}
