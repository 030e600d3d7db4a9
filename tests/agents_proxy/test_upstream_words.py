"""What an upstream says of its failures, of its progress and beside its answer reaches its operator and nobody else."""

import json
import logging
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.agents import Protocol, Upstream
from agents_proxy.messaging.models import OutboundMessage
from agents_proxy.proxy.envelope import Conversation, Prompt
from agents_proxy.proxy.upstream import call
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.hostile import as_result
from tests.agents_proxy.phone_owners import ADDRESS, TO, verified
from tests.agents_proxy.phone_owners import CALL as MESSAGE
from tests.agents_proxy.proxy_calls import CALL, configure, consenting
from tests.agents_proxy.runs import finished
from tests.callers import signed_in
from tests.fakes.agents import CANARY, Speech, agent, answers_with, result_of, with_card

BRAND = "/api/a2a/brand"
FAILURES = ["failed", "rejected", "canceled", "auth-required", "FAILED", "auth_required", "cancelled", "exploded", 7]
ERROR = {"code": -32056, "message": "The agent could not do this.", "data": {"code": "agent_failed"}}


def stated(speech: Speech, state: Any, text: str = CANARY) -> dict[str, Any]:
    """A task in this state that says `text`, in its status and in an artifact."""
    result = as_result(speech, text)
    task = result.get("task", result)
    task["status"]["state"] = state
    task["artifacts"] = [{"artifactId": "a", "parts": task["status"]["message"]["parts"]}]
    return result


def failed(text: str) -> dict[str, Any]:
    return {"result": stated(Speech.TASKS_SEND, "failed", text)}


@pytest.mark.parametrize("speech", list(Speech))
@pytest.mark.parametrize("state", [*FAILURES, "TASK_STATE_FAILED", "TASK_STATE_AUTH_REQUIRED"])
def test_a_task_that_failed_is_an_error_of_ours(speech: Speech, state: Any, person: User, settings: Any) -> None:
    result = stated(speech, state, json.dumps({"error": CANARY}))
    with agent(with_card(answers_with(lambda request: {**result_of(request), "result": result}), speech)) as running:
        configure(settings, url=running.url, protocol=speech.protocol)
        answer = signed_in(consenting(person)).post(BRAND, CALL)

    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": "task-one", "error": ERROR})


_STATUS = {"state": "failed", "message": {"role": "agent", "parts": [{"text": CANARY}]}}


@pytest.mark.parametrize(
    "result",
    [
        {"task": {"id": "t", "status": _STATUS}, "metadata": {}},
        {"response": {"status": _STATUS}},
        [{"id": "t", "status": _STATUS}],
        {"status": "failed", "message": _STATUS["message"]},
        {"state": "TASK_STATE_FAILED", "parts": [{"text": CANARY}]},
    ],
    ids=["beside", "response", "list", "status alone", "state alone"],
)
def test_a_task_that_failed_is_one_wherever_it_hangs(result: Any, person: User, settings: Any) -> None:
    with agent(answers_with(lambda request: {**result_of(request), "result": result})) as running:
        configure(settings, url=running.url)
        answer = signed_in(consenting(person)).post(BRAND, CALL)

    assert answer.json() == {"jsonrpc": "2.0", "id": "task-one", "error": ERROR}


def test_a_task_that_is_done_in_other_words_is_answered(person: User, settings: Any) -> None:
    with agent(
        answers_with(lambda request: {**result_of(request), "result": stated(Speech.TASKS_SEND, "success", "{}")})
    ) as ran:
        configure(settings, url=ran.url)
        answer = signed_in(consenting(person)).post(BRAND, CALL)

    assert "result" in answer.json()


@pytest.mark.parametrize("speech", list(Speech))
def test_what_is_said_beside_an_answer_stays_here(speech: Speech, person: User, settings: Any) -> None:
    spoken = as_result(speech, "{}")
    aside = {"metadata": {"host": CANARY}, "extensions": [CANARY]}
    task = spoken.get("task", spoken)
    message = task["status"]["message"]
    message["parts"][0] |= aside
    message |= aside
    task["status"] |= aside
    task |= aside | {"history": [{"role": "agent", "parts": [{"text": CANARY}]}]}
    with agent(with_card(answers_with(lambda request: {**result_of(request), "result": spoken}), speech)) as running:
        configure(settings, url=running.url, protocol=speech.protocol)
        answer = signed_in(consenting(person)).post(BRAND, CALL)

    assert CANARY not in answer.content.decode()
    [part] = answer.json()["result"]["status"]["message"]["parts"]
    assert part["text"] == "{}"


def test_progress_is_no_answer_and_a_question_is_all_that_is_said(person: User, settings: Any) -> None:
    results = {}
    caller = signed_in(consenting(person))
    for state in ("working", "submitted", "input-required"):
        result = stated(Speech.TASKS_SEND, state, "Which Ana?")
        message = result["status"]["message"]
        message["parts"] += [{"type": "data", "data": {"host": CANARY}}, {"text": {"host": CANARY}}]
        message["parts"][0]["data"] = message["note"] = CANARY
        with agent(answers_with(lambda request, result=result: {**result_of(request), "result": result})) as running:
            configure(settings, url=running.url)
            results[state] = caller.post(BRAND, CALL).json()["result"]

    assert [results[state]["status"] for state in ("working", "submitted")] == [
        {"state": "working"},
        {"state": "submitted"},
    ]
    assert json.dumps(results["input-required"]).count("Which Ana?") == 1
    assert CANARY not in json.dumps(results["input-required"])
    assert results["input-required"].keys() == {"status"}


@pytest.mark.parametrize("answer", [failed(CANARY), json.dumps({"status": "failed", "error": CANARY})])
def test_a_message_that_failed_tells_a_code(carrier: Agents, person: User, answer: Any) -> None:
    carrier.replies["messaging"] = answer

    response = signed_in(verified(person)).post(ADDRESS, MESSAGE)

    assert response.json() == {"jsonrpc": "2.0", "id": "task-table", "error": ERROR}
    kept = OutboundMessage.objects.get()
    assert (kept.status, kept.error_code) == ("failed", "delivery_failed")


def test_an_analysis_shows_none_of_it(agents: Agents, person: User) -> None:
    agents.replies["core"] = failed(json.dumps({"error": CANARY, "city": CANARY}))
    agents.replies["public"] = {"result": {**as_result(Speech.TASKS_SEND, '{"age": 30}'), "metadata": {"at": CANARY}}}
    run, owner = finished(person), signed_in(person)

    steps = {step.agent: (step.status, step.error_code) for step in run.steps.all()}
    assert (steps["core"], steps["public"]) == (("failed", "agent_failed"), ("succeeded", ""))
    for address in ("/api/a2a/analyses/{}", "/api/a2a/analyses/{}/raw", "/profile/{}/", "/profile/{}/raw/"):
        answer = owner.get(address.format(run.analysis_id))
        assert (answer.status_code, CANARY in answer.content.decode()) == (200, False), address
    raw = owner.get(f"/api/a2a/analyses/{run.analysis_id}/raw").json()
    assert raw["results"]["core"]["result"]["error"] == ERROR


def test_the_page_that_asks_one_agent_shows_none_of_it(person: User, settings: Any) -> None:
    with agent(answers_with(lambda request: {**result_of(request), **failed(json.dumps({"city": CANARY}))})) as running:
        configure(settings, "core", url=running.url)
        answer = signed_in(consenting(person)).client.post("/profile/look-up/", {"about": person.email})

    assert answer.status_code == 502
    assert CANARY not in answer.content.decode()


WORDS = (
    "Traceback at postgres://app:pa55word@db.internal: api_key=abc123, Authorization: Bearer abc.def, sk-live-1234567, "
    f'upstream-token-of-tests, {{"password": "hunter2"}} for {CALL["text"]}, zoe@example.org, {TO}. ' + "x " * 900
)
HIDDEN = ["pa55word", "abc123", "abc.def", "sk-live", "upstream-token", "hunter2", CALL["text"], "zoe@", TO]


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        ("200 OK", failed(WORDS)),
        ("200 OK", {"error": {"code": -32000, "message": WORDS}}),
        ("500 Internal Server Error", WORDS.encode()),
        ("401 Unauthorized", WORDS.encode()),
        ("200 OK", WORDS.encode()),
    ],
    ids=["task", "error", "500", "401", "no JSON"],
)
def test_the_operators_log_has_it_without_secrets(
    status: str, reply: Any, person: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(request: Any) -> Any:
        return reply if isinstance(reply, bytes) else {"jsonrpc": "2.0", "id": request.body["id"], **reply}

    with agent(answers_with(answer, status=status)) as running, caplog.at_level(logging.WARNING):
        configure(settings, url=running.url, token="upstream-token-of-tests")
        response = signed_in(consenting(person)).post(BRAND, CALL)

    assert b"Traceback" not in response.content
    [line] = [record.getMessage() for record in caplog.records if record.name == "agents_proxy.proxy.calls"]
    assert "the agent brand failed" in line
    assert "Traceback" in line
    assert [secret for secret in HIDDEN if secret in line] == []
    assert len(line) < 600


PROFILE = '{"full_name": "Zoe Doe", "likes": ["tea"], "income_bracket": "low"}'


@pytest.mark.parametrize(
    "reply",
    [
        failed(PROFILE),
        {"result": {"status": {"state": "failed"}, "artifacts": [{"parts": [{"data": json.loads(PROFILE)}]}]}},
        {"id": "another's", **failed(PROFILE), "result": {"message": {"parts": [{"text": PROFILE}]}}},
        PROFILE.encode(),
        f"<h1>Oops</h1> {PROFILE}".encode(),
        f"{PROFILE} {'x' * 5000}".encode(),
        f'{{"result": {PROFILE[:-1]}, "city": "{"x" * 5000}'.encode(),
    ],
    ids=["task", "artifact", "another call", "bare", "in words", "long", "cut"],
)
def test_a_profile_that_came_with_a_failure_is_not_logged(
    reply: Any, person: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(request: Any) -> Any:
        return reply if isinstance(reply, bytes) else {"jsonrpc": "2.0", "id": request.body["id"], **reply}

    with agent(answers_with(answer)) as running, caplog.at_level(logging.INFO):
        configure(settings, url=running.url)
        signed_in(consenting(person)).post(BRAND, CALL)

    assert "the agent brand failed" in caplog.text
    assert [word for word in ("Zoe", "tea", "low") if word in caplog.text] == []


@pytest.mark.parametrize("speech", list(Speech))
def test_a_question_comes_with_the_conversation_to_answer_it_in(speech: Speech) -> None:
    result = stated(speech, "input-required", "Which Ana?")
    with agent(with_card(answers_with(lambda request: {**result_of(request), "result": result}), speech)) as running:
        target = Upstream(running.url, "", 20, Protocol(speech.protocol))
        reply = call(target, Prompt("Who?", "session-1", "task-one"))
        call(target, Prompt("Ana Doe", "session-1", "task-one", reply.conversation))

    named = ("task-one", "") if speech is Speech.TASKS_SEND else ("t", "c")
    assert (reply.state, reply.question, reply.conversation) == ("input-required", "Which Ana?", Conversation(*named))
    first, second = (request.body["params"] for request in running.prompts)
    ids = {name: second["message"].get(name) for name in ("taskId", "contextId")}
    if speech is Speech.TASKS_SEND:
        assert (ids, second["sessionId"]) == ({"taskId": None, "contextId": None}, first["sessionId"])
    else:
        assert ids == {"taskId": "t", "contextId": "c"}
        assert first["message"]["messageId"] != second["message"]["messageId"]


@pytest.mark.parametrize("speech", [Speech.A2A_0_3, Speech.A2A_1_0])
def test_the_same_answer_to_the_next_question_is_another_message(speech: Speech) -> None:
    result = stated(speech, "input-required", "Is that you?")
    with agent(with_card(answers_with(lambda request: {**result_of(request), "result": result}), speech)) as running:
        target = Upstream(running.url, "", 20, Protocol(speech.protocol))
        first = call(target, Prompt("Who?", "session-1", "task-one"))
        second = call(target, Prompt("yes", "session-1", "task-one", first.conversation))
        call(target, Prompt("yes", "session-1", "task-one", second.conversation))
        call(target, Prompt("yes", "session-1", "task-one", second.conversation))

    names = [request.body["params"]["message"]["messageId"] for request in running.prompts]
    assert (len(set(names)), names[2] == names[3]) == (3, True)
