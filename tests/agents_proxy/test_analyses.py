"""The addresses of analyses: each works, refuses the wrong method, a stranger, and what does not fit."""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent.models import ProcessingConsent
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import BODY, SUBMITTED, finished, started
from tests.callers import JsonClient
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
AT = "/api/a2a/analyses"
CASES = json.loads((Path(__file__).parents[1] / "vectors/agent-replies.json").read_text())["cases"]


def run_of(owner: JsonClient) -> str:
    """An analysis started through the address and run to its end."""
    answer = owner.post(AT, BODY)
    assert answer.status_code == 202
    steps.run_through(Run.objects.get(analysis_id=answer.json()["analysisId"]).pk)
    return str(answer.json()["analysisId"])


def test_starting_answers_where_to_look_and_keeps_the_consent(owner: JsonClient, person: User) -> None:
    answer = owner.post(AT, BODY)

    run = Run.objects.get()
    where = f"{AT}/{run.analysis_id}"
    assert answer.status_code == 202
    assert answer.json() == {"analysisId": run.analysis_id, "status": "queued", "statusUrl": where}
    assert answer["Location"] == where
    consent = ProcessingConsent.objects.get()
    assert (run.consent, consent.user, consent.reach) == (consent, person, "run")
    assert consent.purposes == ["profile", "enrichment", "brand_affinity"]
    assert consent.statement


def test_starting_says_how_many_more_may_be_under_way(owner: JsonClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_proxy.analyses.actions.UNFINISHED_PER_PERSON", 2)

    answers = [owner.post(AT, BODY), owner.post(AT, {}), owner.post(AT, BODY), owner.post(AT, BODY)]

    assert [answer.status_code for answer in answers] == [202, 400, 202, 429]
    budget = '"analyses-per-person";q=60;w=3600'
    assert {answer["RateLimit-Policy"] for answer in answers} == {f'"unfinished-analyses";q=2, {budget}'}
    left = [answer["RateLimit"].split(", ")[0] for answer in answers]
    assert left == [f'"unfinished-analyses";r={number}' for number in (1, 1, 0, 0)]
    assert not owner.get(AT).has_header("RateLimit")


def test_a_queued_analysis_is_told_in_full(owner: JsonClient) -> None:
    analysis_id = owner.post(AT, BODY).json()["analysisId"]

    waiting = {
        "status": "waiting",
        "startedAt": None,
        "durationMs": None,
        "fieldCount": None,
        "repaired": False,
        "errorCode": None,
        "question": None,
        "answerBy": None,
        "arrived": None,
        "reading": None,
    }
    assert owner.get(f"{AT}/{analysis_id}").json() == {
        "analysisId": analysis_id,
        "status": "queued",
        "progress": {"done": 0, "total": 4},
        "steps": [{"agent": agent, **waiting} for agent in ("brand", "core", "public", "second")],
        "profile": None,
        "provenance": None,
        "metadata": None,
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_recorded_replies_come_out_through_the_address(owner: JsonClient, agents: Agents, case: dict[str, Any]) -> None:
    agents.replies = case["replies"]
    found = owner.get(f"{AT}/{run_of(owner)}").json()

    assert found["profile"] == case["profile"]
    assert case["provenance"] in (None, found["provenance"])
    assert [step["agent"] for step in found["steps"] if step["status"] == "failed"] == case.get("failed", [])
    assert [step["agent"] for step in found["steps"] if step["repaired"]] == case.get("repaired", [])
    assert found["status"] == ("completed_with_errors" if case["failed"] else "completed")
    empty = [step["agent"] for step in found["steps"] if step["status"] == "empty"]
    assert empty == case.get("empty", empty)
    assert found["progress"] == {"done": 4, "total": 4}
    scores = {name: value for name, value in found["metadata"].items() if name.endswith("_score")}
    assert scores == case.get("metadata", {})
    assert found["metadata"]["total_fields"] == case["total_fields"]
    durations = [step["durationMs"] for step in found["steps"]]
    assert found["metadata"]["response_time_ms"] == round(sum(durations) / len(durations))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"email": "ana"}, "email"),
        ({"email": 5}, "email"),
        ({"fullName": "A"}, "fullName"),
        ({"fullName": " A "}, "fullName"),
        ({"fullName": "a" * 201}, "fullName"),
        ({"fullName": "Ana\u202eS"}, "fullName"),
        ({"countryCode": "351"}, "countryCode"),
        ({"countryCode": "+12345"}, "countryCode"),
        ({"countryCode": "+"}, "countryCode"),
        ({"phoneNumber": "123456789"}, "phoneNumber"),
        ({"phoneNumber": "1" * 16}, "phoneNumber"),
        ({"phoneNumber": "12345 67890"}, "phoneNumber"),
        ({"phoneNumber": "٠١٢٣٤٥٦٧٨٩"}, "phoneNumber"),
        ({"phoneNumber": "1234567890\n"}, "phoneNumber"),
        ({"agreed": False}, "agreed"),
        ({"agreed": 1}, "agreed"),
        ({"more": 1}, "more"),
        ({"email": None}, "email"),
    ],
)
def test_each_field_that_does_not_fit_is_named(owner: JsonClient, change: dict[str, Any], named: str) -> None:
    answer = owner.post(AT, {**BODY, **change})

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], [error["field"] for error in problem["errors"]]) == ("invalid_request", [named])
    assert Run.objects.count() == 0


def test_fields_at_their_limits_fit(owner: JsonClient) -> None:
    for change in ({"fullName": "Li"}, {"countryCode": "+1"}, {"countryCode": "+1234"}, {"phoneNumber": "1" * 15}):
        assert owner.post(AT, {**BODY, **change}).status_code == 202


def test_all_that_is_missing_is_named_at_once(owner: JsonClient) -> None:
    named = {error["field"] for error in owner.post(AT, {}).json()["errors"]}
    assert named == {"email", "fullName", "countryCode", "phoneNumber", "agreed"}


def test_the_list_is_the_persons_own_newest_first_in_pages(owner: JsonClient, person: User, agents: Agents) -> None:
    started(PersonFactory())
    runs = [finished(person), started(person), started(person)]
    first = owner.get(AT, limit=2).json()
    second = owner.get(AT, limit=2, cursor=first["nextCursor"]).json()

    listed = [entry["analysisId"] for entry in first["analyses"] + second["analyses"]]
    assert listed == [run.analysis_id for run in reversed(runs)]
    assert second["nextCursor"] is None
    assert second["analyses"][0]["status"] == "completed"
    assert second["analyses"][0].keys() == {
        "analysisId", "status", "progress", "createdAt", "finishedAt", "deletedOn", "app", "inputRequired",
    }  # fmt: skip


def test_raw_holds_what_went_in_and_every_whole_answer(owner: JsonClient, agents: Agents) -> None:
    agents.replies = {"brand": {"city": "Linz"}, "core": "no JSON, kept"}
    analysis_id = run_of(owner)
    raw = owner.get(f"{AT}/{analysis_id}/raw").json()

    assert raw["input"] == SUBMITTED
    assert raw["profile"] == {"city": "Linz"}
    assert raw["provenance"] == {"city": "brand"}
    assert raw["results"]["core"]["result"]["result"]["status"]["message"]["parts"][0]["text"] == "no JSON, kept"
    assert raw["results"]["core"]["errorCode"] == "not_json"
    assert raw["metadata"]["total_fields"] == 1


def test_cancel_answers_the_status_and_then_refuses_nothing(owner: JsonClient, agents: Agents) -> None:
    analysis_id = owner.post(AT, BODY).json()["analysisId"]
    answers = [owner.post(f"{AT}/{analysis_id}/cancel") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert {answer.json()["status"] for answer in answers} == {"cancelled"}
    done = owner.post(f"{AT}/{run_of(owner)}/cancel")
    assert (done.status_code, done.json()["code"]) == (409, "analysis_ended")


def test_retry_runs_the_failed_step_again(owner: JsonClient, agents: Agents) -> None:
    agents.replies = {"core": "sorry"}
    analysis_id = run_of(owner)
    agents.replies = {"core": {"age": 7}}
    answer = owner.post(f"{AT}/{analysis_id}/steps/core/retry")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    steps.run_through(Run.objects.get().pk)

    assert owner.get(f"{AT}/{analysis_id}").json()["profile"] == {"age": 7}
    again = owner.post(f"{AT}/{analysis_id}/steps/core/retry")
    assert (again.status_code, again.json()["code"]) == (409, "step_not_failed")


def test_delete_leaves_nothing(owner: JsonClient, agents: Agents) -> None:
    analysis_id = run_of(owner)

    assert owner.delete(f"{AT}/{analysis_id}").status_code == 204
    assert owner.get(f"{AT}/{analysis_id}").status_code == 404
    assert owner.delete(f"{AT}/{analysis_id}").status_code == 404


PLACES = [
    ("GET", ""), ("POST", ""), ("GET", "/{}"), ("DELETE", "/{}"), ("GET", "/{}/raw"), ("POST", "/{}/cancel"),
    ("POST", "/{}/steps/brand/retry"),
]  # fmt: skip


@pytest.mark.parametrize(
    "query", ["?limit=0", "?limit=101", "?limit=x", "?limit=1.5", "?cursor=..", "?page=2", "?limit=1&limit=2"]
)
def test_queries_that_do_not_fit_are_refused(owner: JsonClient, query: str) -> None:
    answer = owner.send("GET", AT + query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


def test_bodies_that_do_not_fit_are_refused(owner: JsonClient) -> None:
    for body in (b"", b"[]", b"{", b'{"email": NaN}'):
        assert owner.send("POST", AT, body).status_code == 400
    assert owner.send("POST", AT, b"{}", media_type="text/plain").status_code == 415
    assert owner.send("POST", AT, b" " * 70_000).status_code == 413
    analysis_id = owner.post(AT, BODY).json()["analysisId"]
    assert owner.post(f"{AT}/{analysis_id}/cancel", {"now": True}).status_code == 400


def test_looking_takes_few_queries(
    owner: JsonClient, agents: Agents, person: User, django_assert_max_num_queries: Any
) -> None:
    run = finished(person)
    with django_assert_max_num_queries(4):  # session, person, run, steps
        assert owner.get(f"{AT}/{run.analysis_id}").status_code == 200
    with django_assert_max_num_queries(4):
        assert owner.get(AT).status_code == 200
