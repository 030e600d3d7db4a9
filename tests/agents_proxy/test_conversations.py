"""An agent that asks something back: the person answers, the agent goes on, or the run goes on without it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from agents_proxy import tasks
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run, Step
from common import encryption
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished, kept, started, states
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
ANSWER = {"text": "The one in Porto."}


def task(state: str, text: str) -> dict[str, Any]:
    message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
    return {"result": {"id": "upstreams-task", "status": {"state": state, "message": message}}}


@pytest.fixture
def asking(person: User, agents: Agents) -> Run:
    """A run of which the agent `core` asks which Ana is meant, and knows her city once it was told."""
    replies: Iterator[Any] = iter([task("input-required", "Which Ana?"), {"city": "Porto"}])
    agents.replies = {"brand": {"likes": ["tea"]}, "core": lambda _request: next(replies), "second": {"age": 41}}
    return finished(person)


def at(run: Run, what: str = "") -> str:
    return f"/api/a2a/analyses/{run.analysis_id}{what}"


def test_a_question_stops_the_run_and_is_shown(owner: JsonClient, asking: Run, agents: Agents) -> None:
    found = owner.get(at(asking)).json()

    step = found["steps"][1]
    assert (step["status"], step["question"]) == ("input_required", "Which Ana?")
    assert step["answerBy"] > found["steps"][1]["startedAt"]
    assert [one["question"] for one in found["steps"]].count(None) == 3
    assert (found["status"], found["progress"]) == ("running", {"done": 1, "total": 4})
    assert agents.names == ["brand", "core"]
    page = owner.client.get(f"/profile/{asking.analysis_id}/").content.decode()
    assert '<bdi class="said">Which Ana?</bdi>' in page
    assert f"/profile/{asking.analysis_id}/answer/core/" in page


def test_the_answer_goes_on_in_the_same_conversation(owner: JsonClient, asking: Run, agents: Agents) -> None:
    answered = owner.post(at(asking, "/steps/core/answer"), ANSWER)
    steps.run_through(asking.pk)

    assert (answered.status_code, answered.json()["status"]) == (202, "running")
    assert agents.names == ["brand", "core", "core", "public", "second"]
    first, second = (request for agent, request in agents.requests if agent == "core")
    assert second["params"]["message"]["parts"] == [{"type": "text", "text": ANSWER["text"]}]
    assert [second["id"], second["params"]["sessionId"]] == [first["id"], first["params"]["sessionId"]]
    run = kept(asking)
    assert (run.status, states(run)) == ("completed", ["succeeded", "succeeded", "empty", "succeeded"])
    assert json.loads(encryption.opened(str(run.profile))) == {"likes": ["tea"], "city": "Porto", "age": 41}
    raw = owner.get(at(asking, "/raw")).json()["results"]["core"]
    assert (raw["conversation"]["question"], raw["conversation"]["answer"]) == ("Which Ana?", ANSWER["text"])


def test_the_answer_can_be_given_on_the_page(owner: JsonClient, asking: Run, agents: Agents) -> None:
    here = f"/profile/{asking.analysis_id}/"
    blank = owner.client.post(f"{here}answer/core/", {"text": " "}, follow=True).content.decode()
    page = owner.client.post(f"{here}answer/core/", ANSWER, follow=True).content.decode()

    assert "Write an answer first." in blank
    assert "The agent has your answer and goes on." in page
    assert asking.steps.get(agent="core").status == "waiting"


def test_the_run_goes_on_without_an_answer_after_a_day(asking: Run, agents: Agents) -> None:
    step = asking.steps.get(agent="core")
    assert step.lease_until - timezone.now() > timedelta(hours=23)
    Run.objects.filter(pk=asking.pk).update(updated_at=timezone.now() - timedelta(minutes=1))
    waited = tasks.resume_analyses()
    Step.objects.filter(pk=step.pk).update(lease_until=timezone.now() - timedelta(minutes=1))

    assert (waited, tasks.resume_analyses()) == (0, 1)
    run = kept(asking)
    assert (run.status, states(run)) == ("completed_with_errors", ["succeeded", "failed", "empty", "succeeded"])
    assert run.steps.get(agent="core").error_code == "not_answered"
    assert agents.names == ["brand", "core", "public", "second"]


def test_what_cannot_be_answered_is_refused(owner: JsonClient, asking: Run) -> None:
    here = at(asking, "/steps/core/answer")
    refused = [
        owner.post(at(asking, "/steps/brand/answer"), ANSWER),
        owner.post(at(asking, "/steps/nobody/answer"), ANSWER),
        owner.post(here, {"text": " \n "}),
        owner.post(here, {"text": "bob@example.org"}),
        signed_in(PersonFactory()).post(here, ANSWER),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [
        (409, "step_not_asking"), (404, "unknown_analysis"), (400, "invalid_request"), (403, "subject_mismatch"),
        (404, "unknown_analysis"),
    ]  # fmt: skip
    assert asking.steps.get(agent="core").status == "input_required"


def test_a_run_that_waits_for_an_answer_can_be_stopped(owner: JsonClient, asking: Run) -> None:
    owner.post(at(asking, "/cancel"))

    assert (kept(asking).status, states(asking)) == ("cancelled", ["succeeded", "skipped", "skipped", "skipped"])
    assert owner.post(at(asking, "/steps/core/answer"), ANSWER).json()["code"] == "step_not_asking"


def test_nothing_of_a_question_is_in_clear_at_rest(asking: Run) -> None:
    rows = json.dumps(list(Step.objects.values()), default=str)

    assert "Which Ana" not in rows
    assert "upstreams-task" not in rows


@pytest.mark.parametrize("state", ["failed", "rejected", "canceled", "TASK_STATE_AUTH_REQUIRED"])
def test_a_task_that_did_not_end_well_is_a_failed_step(
    owner: JsonClient, person: User, agents: Agents, settings: Any, state: str
) -> None:
    settings.AGENTS = {**settings.AGENTS, "core": {**settings.AGENTS["core"], "contact": "help@agents.example"}}
    agents.replies = {"core": task(state, '{"city": "Porto"}')}
    run = finished(person)

    step = owner.get(at(run)).json()["steps"][1]
    assert (step["status"], step["errorCode"]) == ("failed", "agent_failed")
    page = owner.client.get(f"/profile/{run.analysis_id}/").content.decode()
    assert ("help@agents.example" in page) == ("AUTH" in state)


def test_a_question_of_a_run_under_way_is_no_result(owner: JsonClient, person: User) -> None:
    run = started(person)

    assert owner.post(at(run, "/steps/brand/answer"), ANSWER).json()["code"] == "step_not_asking"


def test_a_step_says_that_an_answer_comes_in_while_it_does(owner: JsonClient, person: User, agents: Agents) -> None:
    run = started(person)
    claimed = steps.claim_step(run.pk)
    assert claimed is not None

    def step() -> Any:
        return owner.get(f"/api/a2a/analyses/{run.analysis_id}").json()["steps"][0]

    counts = []
    for count in range(1, 6):
        steps._note_arrived(claimed, count)
        counts.append(step()["arrived"])
    page = owner.client.get(f"/profile/{run.analysis_id}/").content.decode()
    steps.put_back(claimed)
    again = steps.claim_step(run.pk)
    assert again is not None
    steps._note_arrived(claimed, 64)

    assert counts == [1, 2, 2, 4, 4]
    assert "Its answer is coming in" in page
    assert step()["arrived"] is None
    steps._note_arrived(again, 1)
    steps.record_step(again, steps._call_agent(again) or {})
    assert (step()["status"], step()["arrived"]) == ("empty", None)


def test_the_list_says_who_is_waited_for(owner: JsonClient, asking: Run, agents: Agents) -> None:
    def listed() -> tuple[bool, bool]:
        [entry] = owner.get("/api/a2a/analyses").json()["analyses"]
        return entry["inputRequired"], "Waiting for you" in owner.client.get("/profile/").content.decode()

    before = listed()
    owner.post(at(asking, "/steps/core/answer"), ANSWER)

    assert (before, listed()) == ((True, True), (False, False))


def test_a_long_question_is_whole_and_a_long_answer_is_not_cut(owner: JsonClient, person: User, agents: Agents) -> None:
    question = f"{'Which Ana? ' * 400}END"
    agents.replies = {"core": task("input-required", question)}
    run = finished(person)
    page = owner.client.get(f"/profile/{run.analysis_id}/").content.decode()
    long = {"text": "x" * 4001}
    text = owner.client.post(f"/profile/{run.analysis_id}/answer/core/", long, follow=True).content.decode()

    assert owner.get(at(run)).json()["steps"][1]["question"] == question
    assert "It goes on" in page
    assert page.count("Ana? END") == 1
    assert "at most 4000 characters" in text
    assert len(agents.requests) == 2
    lines = {"text": "line\r\n" * 799 + "last"}  # 4,799 bytes as a browser sends it, 3,999 characters as it counts
    sent = owner.client.post(f"/profile/{run.analysis_id}/answer/core/", lines, follow=True).content.decode()
    assert "The agent has your answer" in sent
