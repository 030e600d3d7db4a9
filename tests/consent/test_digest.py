"""The canonical form is RFC 8785's, whichever way it is written."""

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from consent.ledger.canonical import canonical

_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | _TEXT | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_it_is_what_the_library_of_the_standard_writes(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_every_character_that_json_escapes_is_written_as_the_standard_says() -> None:
    text = "".join(map(chr, range(0x80))) + "\u2028\u2029é€😀"
    assert canonical({"text": text}) == rfc8785.dumps({"text": text})


def test_names_sort_by_utf_16() -> None:
    """A name beyond the basic plane comes before one at its end, against the order of code points."""
    assert list(json.loads(canonical({"\ufb33": 1, "😀": 2}))) == ["😀", "\ufb33"]


@pytest.mark.parametrize("value", [2**53, -(2**53), "\ud800", {"a": float("nan")}, {1: "a"}, {"a": {1, 2}}])
def test_what_the_standard_has_no_form_for_is_refused(value: Any) -> None:
    with pytest.raises((rfc8785.CanonicalizationError, TypeError, UnicodeEncodeError)):
        canonical(value)
