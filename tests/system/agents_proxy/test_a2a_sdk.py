"""The official A2A SDK's server as our upstream, in both revisions."""

import json
import threading
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.proxy.models import Call
from tests.agents_proxy.proxy_calls import CALL, configure, consenting, refusal
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient, signed_in
from tests.fakes.agents import CANARY
from tests.fakes.sdk_agents import Says, sdk_agent
from tests.patience import MOST_SECONDS

BRAND = "/api/a2a/brand"
VERSIONS = ["0.3", "1.0"]
PROFILE = '{"likes": ["tea"], "confidence": 0.5}'
STORY = "Name: Zoe Doe\nCity: Berlin\nEmail: zoe@example.org"


@pytest.fixture
def caller(person: User) -> JsonClient:
    """`person`, signed in, having agreed to everything."""
    return signed_in(consenting(person))


def answer_of(agent: Says, caller: JsonClient, settings: Any, *, seconds: float = 30.0, **how: Any) -> Any:
    """What the proxy answers whose upstream is this agent."""
    with sdk_agent(agent, **how) as url:
        configure(settings, url=url, protocol="a2a", timeout=seconds)
        return caller.post(BRAND, CALL)


def task_of(state: str, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    message = {"message": {"role": "agent", "parts": parts}} if parts else {}
    return {"id": "task-one", "sessionId": "session-42", "status": {"state": state, **message}, **more}


def artifact(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"artifactId": "the agent's own", "name": "profile", "parts": list(parts)}]


HALF = len(PROFILE) // 2
TEXT = {"type": "text", "text": PROFILE}
TASKS = {
    "message": task_of("completed", [TEXT]),
    "status": task_of("completed", [TEXT]),
    "artifact": task_of("completed", [], artifacts=artifact(TEXT)),
    "data": task_of(
        "completed",
        [],
        artifacts=artifact({"type": "text", "text": "Here it is."}, {"type": "data", "data": json.loads(PROFILE)}),
    ),
    "chunks": task_of(
        "completed",
        [],
        artifacts=artifact(*({"type": "text", "text": half} for half in (PROFILE[:HALF], PROFILE[HALF:]))),
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("form", TASKS)
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_of_the_sdk_answers_through_the_proxy(
    version: str, streams: bool, form: str, caller: JsonClient, settings: Any
) -> None:
    agent = Says(form, PROFILE)
    answer = answer_of(agent, caller, settings, versions=[version], streams=streams)

    result = answer.json()["result"]
    for one in result.get("artifacts", []):
        one["artifactId"] = "the agent's own"
    assert (answer.status_code, answer.json()["id"], result) == (200, "task-one", TASKS[form])
    assert agent.prompts == ["Who is Zoe?"]
    assert Call.objects.get().outcome == "answered"
    assert CANARY not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_task_that_works_for_a_while_is_waited_for(
    version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    agent = Says("late", PROFILE)
    with sdk_agent(agent, versions=[version], streams=streams) as url:
        configure(settings, url=url, protocol="a2a")
        looked = threading.Timer(0.15, agent.release)
        looked.start()
        answer = caller.post(BRAND, CALL)

    assert [part["text"] for part in answer.json()["result"]["artifacts"][0]["parts"]] == [PROFILE]
    assert CANARY not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_task_that_takes_too_long_is_called_off(
    version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    agent = Says("endless", PROFILE)
    answer = answer_of(agent, caller, settings, versions=[version], streams=streams, seconds=4.0)

    assert refusal(answer) == (504, -32055, "upstream_timeout")
    assert agent.called_off.wait(MOST_SECONDS)


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_task_that_failed_with_json_is_an_error_of_ours(
    version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    answer = answer_of(Says("failing", PROFILE), caller, settings, versions=[version], streams=streams)

    error = {"code": -32056, "message": "The agent could not do this.", "data": {"code": "agent_failed"}}
    assert (answer.status_code, answer.json()["error"]) == (200, error)
    assert Call.objects.get().outcome == "agent_failed"


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_question_is_answered_under_the_same_names(
    version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    agent = Says("question", PROFILE)
    with sdk_agent(agent, versions=[version], streams=streams) as url:
        configure(settings, url=url, protocol="a2a")
        first = caller.post(BRAND, CALL).json()["result"]
        second = caller.post(BRAND, {**CALL, "text": "Zoe Doe"}).json()["result"]

    assert first == task_of("input-required", [{"type": "text", "text": "Which Zoe?"}])
    assert second["status"] == {"state": "completed"}
    assert [part["text"] for part in second["artifacts"][0]["parts"]] == [PROFILE, "Zoe Doe"]
    assert agent.prompts == ["Who is Zoe?", "Zoe Doe"]


def all_at(settings: Any, url: str) -> None:
    """Every agent is the one at `url`."""
    upstream = {"url": url, "token": "", "timeout": 30.0, "protocol": "a2a"}
    settings.AGENTS = dict.fromkeys(settings.AGENTS, upstream)


def shown(person: User, run: Run) -> tuple[Any, str]:
    """What the API answers of a run, and its page, which tells nothing that the agent kept for itself."""
    owner = signed_in(person)
    page = owner.get(f"/profile/{run.analysis_id}/").content.decode()
    body = owner.get(f"/api/a2a/analyses/{run.analysis_id}")
    assert CANARY not in page
    assert CANARY not in body.content.decode()
    return body.json(), page


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["message", "status", "artifact", "data", "chunks", "soon"])
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_api_and_the_page_show_what_an_agent_of_the_sdk_says(
    version: str, streams: bool, form: str, person: User, settings: Any
) -> None:
    with sdk_agent(Says(form, PROFILE), versions=[version], streams=streams) as url:
        all_at(settings, url)
        run = finished(person)
    body, page = shown(person, run)

    assert (body["status"], [step["status"] for step in body["steps"]]) == ("completed", ["succeeded"] * 4)
    assert body["profile"] == {"likes": ["tea"], "confidence": 0.5}
    assert body["provenance"]["likes"] == "second"
    assert (body["metadata"]["total_fields"], body["metadata"]["confidence_score"]) == (2, 0.5)
    assert ("Likes" in page, ">tea<" in page, "/retry/" in page) == (True, True, False)


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_api_and_the_page_show_that_an_agent_of_the_sdk_failed(
    version: str, streams: bool, person: User, settings: Any
) -> None:
    with sdk_agent(Says("failing", PROFILE), versions=[version], streams=streams) as url:
        all_at(settings, url)
        run = finished(person)
    body, page = shown(person, run)

    steps_of_it = [(step["status"], step["errorCode"]) for step in body["steps"]]
    assert (body["status"], steps_of_it) == ("failed", [("failed", "agent_failed")] * 4)
    assert body["profile"] in (None, {})
    assert ">tea<" not in page
    assert [page.count(f"/retry/{step['agent']}/") for step in body["steps"]] == [1] * 4


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_of_the_sdk_asks_in_an_analysis_is_answered_and_completes(
    version: str, streams: bool, person: User, settings: Any
) -> None:
    asking, others = Says("question", PROFILE), Says("artifact", '{"city": "Porto"}')
    with (
        sdk_agent(asking, versions=[version], streams=streams) as url,
        sdk_agent(others, versions=[version], streams=streams) as elsewhere,
    ):
        options = {"token": "", "timeout": 30.0, "protocol": "a2a"}
        settings.AGENTS = {name: {**options, "url": url if name == "brand" else elsewhere} for name in settings.AGENTS}
        run = finished(person)
        at, owner = f"/api/a2a/analyses/{run.analysis_id}", signed_in(person)
        before, asking_page = owner.get(at).json(), owner.get(f"/profile/{run.analysis_id}/").content.decode()
        answered = owner.post(f"{at}/steps/brand/answer", {"text": "Zoe Doe"})
        steps.run_through(run.pk)
        after, page = owner.get(at).json(), owner.get(f"/profile/{run.analysis_id}/").content.decode()

    assert (before["status"], before["steps"][0]["status"], before["steps"][0]["question"]) == (
        "running", "input_required", "Which Zoe?",
    )  # fmt: skip
    assert ('<bdi class="said">Which Zoe?</bdi>' in asking_page, 'name="text"' in asking_page) == (True, True)
    assert answered.status_code == 202
    assert (after["status"], [step["status"] for step in after["steps"]]) == ("completed", ["succeeded"] * 4)
    assert (after["profile"]["likes"], after["provenance"]["likes"]) == (["tea"], "brand")
    assert (">tea<" in page, "Porto" in page, "Which Zoe?" in page) == (True, True, False)
    assert asking.prompts[1:] == ["Zoe Doe"]


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("form", "code"), [("error", -32004), ("crash", -32603)])
def test_an_error_of_the_sdk_keeps_its_code_and_loses_its_words(
    form: str, code: int, version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    answer = answer_of(Says(form, PROFILE), caller, settings, versions=[version], streams=streams)

    error = {"code": code, "message": "The agent reported an error."}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": "task-one", "error": error})
    assert CANARY not in f"{answer.headers}{answer.content!r}"
    assert Call.objects.get().outcome == "agent_error"


@pytest.mark.django_db
def test_a_method_that_a2a_never_had_is_an_error_of_the_sdk(caller: JsonClient, settings: Any) -> None:
    with sdk_agent(Says("message", PROFILE)) as url:
        configure(settings, url=url)
        answer = caller.post(BRAND, CALL)

    assert answer.json()["error"] == {"code": -32601, "message": "The agent reported an error."}
