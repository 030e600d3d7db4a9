"""The client for Python passes the conformance suite, and the suite notices what a client gets wrong."""

import json

import pytest

from conformance import __main__ as suite
from conformance import python_client
from conformance.cases import Case, all_cases, merged
from consent_bridge.errors import Refused

pytestmark = pytest.mark.usefixtures("real_passphrases")

CASES = list(all_cases())
REFUSAL = Case("a", "open_export", {}, {"refused": "cannot_open", "member": None})
ANSWER = Case("a", "derive", {}, {"answer": {"a": [1, True]}})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operation}: {case.name}")
def test_client_does_as_the_case_says(case):
    reply = python_client.reply({"operation": case.operation, "input": case.given})

    assert suite.judged(case, json.dumps(reply)) == ("ok", "")


def test_no_two_cases_have_one_name_and_every_operation_has_some():
    assert len({case.name for case in CASES}) == len(CASES) > 500
    assert {case.operation for case in CASES} == python_client.OPERATIONS.keys()


@pytest.mark.parametrize(
    ("case", "reply"),
    [
        (REFUSAL, {"refused": "cannot_open", "member": None}),
        (REFUSAL, {"refused": "cannot_open"}),
        (REFUSAL, {"refused": True}),
        (ANSWER, {"answer": {"a": [1.0, True]}}),
    ],
)
def test_what_fits_is_taken(case, reply):
    assert suite.judged(case, json.dumps(reply)) == ("ok", "")


@pytest.mark.parametrize(
    ("case", "reply"),
    [
        (REFUSAL, {"refused": "refused", "member": None}),
        (REFUSAL, {"refused": "cannot_open", "member": "aud"}),
        (REFUSAL, {"answer": None}),
        (REFUSAL, {"refused": True, "answer": None}),
        (REFUSAL, {"error": "it broke"}),
        (REFUSAL, []),
        (ANSWER, {"answer": {"a": [1, 1]}}),
        (ANSWER, {"answer": {"a": [1, True], "b": None}}),
        (ANSWER, {"answer": {"a": [1]}}),
        (ANSWER, {"refused": True}),
    ],
)
def test_what_does_not_fit_is_not_taken(case, reply):
    assert suite.judged(case, json.dumps(reply))[0] == "FAIL"
    assert suite.judged(case, "no JSON")[0] == "FAIL"


def test_what_a_client_cannot_do_is_left_out():
    assert suite.judged(ANSWER, json.dumps(python_client.reply({"operation": "guess"}))) == ("skip", "")


def test_refusal_has_a_kind_and_a_member(monkeypatch):
    def refuse(given):
        raise Refused("no", member="aud")

    monkeypatch.setitem(python_client.OPERATIONS, "derive", refuse)

    assert python_client.reply({"operation": "derive", "input": {}}) == {"refused": "refused", "member": "aud"}


def test_merge_patch_has_the_examples_of_its_standard():
    assert merged({"a": {"b": "c", "d": 1}, "e": [1]}, {"a": {"b": None}, "e": {"f": 1}}) == {
        "a": {"d": 1},
        "e": {"f": 1},
    }
    assert merged([1], "a") == "a"
