"""The official A2A SDK and this service, both ways and in both revisions: its server as our upstream, its client at our
reference agents."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.compat.v0_3 import types as v03
from a2a.helpers.proto_helpers import get_message_text, new_message, new_text_message
from a2a.types import AgentCard, Part, Role, SendMessageRequest, TaskState
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    MethodNotFoundError,
    VersionNotSupportedError,
)

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.proxy.models import Call
from examples.reference_agents import NAMES
from tests.agents_proxy.proxy_calls import CALL, configure, consenting, refusal
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient, signed_in
from tests.fakes.agents import CANARY
from tests.fakes.sdk_agents import Says, sdk_agent
from tests.patience import MOST_SECONDS
from tests.system.agents_proxy.test_reference import start

BRAND = "/api/a2a/brand"
VERSIONS = ["0.3", "1.0"]
PROFILE = '{"likes": ["tea"], "confidence": 0.5}'
STORY = "Name: Zoe Doe\nCity: Berlin\nEmail: zoe@example.org"


# --- the SDK's server is our upstream --------------------------------------------------------------------------------
@pytest.fixture
def caller(person: User) -> JsonClient:
    """`person`, signed in, having agreed to everything."""
    return signed_in(consenting(person))


def asked_of(agent: Says, caller: JsonClient, settings: Any, *, seconds: float = 30.0, **how: Any) -> Any:
    """What the proxy answers whose upstream is this agent."""
    with sdk_agent(agent, **how) as url:
        configure(settings, url=url, protocol="a2a", timeout=seconds)
        return caller.post(BRAND, CALL)


def said(state: str, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    message = {"message": {"role": "agent", "parts": parts}} if parts else {}
    return {"id": "task-one", "sessionId": "session-42", "status": {"state": state, **message}, **more}


def artifact(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"artifactId": "the agent's own", "name": "profile", "parts": list(parts)}]


HALF = len(PROFILE) // 2
TEXT = {"type": "text", "text": PROFILE}
SAID = {
    "message": said("completed", [TEXT]),
    "status": said("completed", [TEXT]),
    "artifact": said("completed", [], artifacts=artifact(TEXT)),
    "data": said(
        "completed",
        [],
        artifacts=artifact({"type": "text", "text": "Here it is."}, {"type": "data", "data": json.loads(PROFILE)}),
    ),
    "chunks": said(
        "completed",
        [],
        artifacts=artifact(*({"type": "text", "text": half} for half in (PROFILE[:HALF], PROFILE[HALF:]))),
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("form", SAID)
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_of_the_sdk_answers_through_the_proxy(
    version: str, streams: bool, form: str, caller: JsonClient, settings: Any
) -> None:
    agent = Says(form, PROFILE)
    answer = asked_of(agent, caller, settings, versions=[version], streams=streams)

    result = answer.json()["result"]
    for one in result.get("artifacts", []):
        one["artifactId"] = "the agent's own"
    assert (answer.status_code, answer.json()["id"], result) == (200, "task-one", SAID[form])
    assert agent.asked == ["Who is Zoe?"]
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
    answer = asked_of(agent, caller, settings, versions=[version], streams=streams, seconds=2.0)

    assert refusal(answer) == (504, -32055, "upstream_timeout")
    assert agent.called_off.wait(MOST_SECONDS)


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_task_that_failed_with_json_is_an_error_of_ours(
    version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    answer = asked_of(Says("failing", PROFILE), caller, settings, versions=[version], streams=streams)

    told = {"code": -32056, "message": "The agent could not do this.", "data": {"code": "agent_failed"}}
    assert (answer.status_code, answer.json()["error"]) == (200, told)
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

    assert first == said("input-required", [{"type": "text", "text": "Which Zoe?"}])
    assert second["status"] == {"state": "completed"}
    assert [part["text"] for part in second["artifacts"][0]["parts"]] == [PROFILE, "Zoe Doe"]
    assert agent.asked == ["Who is Zoe?", "Zoe Doe"]


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
    assert ("Likes" in page, "tea" in page, "/retry/" in page) == (True, True, False)


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
    assert "tea" not in page
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
        told = {"token": "", "timeout": 30.0, "protocol": "a2a"}
        settings.AGENTS = {name: {**told, "url": url if name == "brand" else elsewhere} for name in settings.AGENTS}
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
    assert ("tea" in page, "Porto" in page, "Which Zoe?" in page) == (True, True, False)
    assert asking.asked[1:] == ["Zoe Doe"]


@pytest.mark.django_db
@pytest.mark.parametrize("streams", [False, True], ids=["asks again", "streams"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("form", "code"), [("error", -32004), ("crash", -32603)])
def test_an_error_of_the_sdk_keeps_its_code_and_loses_its_words(
    form: str, code: int, version: str, streams: bool, caller: JsonClient, settings: Any
) -> None:
    answer = asked_of(Says(form, PROFILE), caller, settings, versions=[version], streams=streams)

    told = {"code": code, "message": "The agent reported an error."}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": "task-one", "error": told})
    assert CANARY not in f"{answer.headers}{answer.content!r}"
    assert Call.objects.get().outcome == "agent_error"


@pytest.mark.django_db
def test_a_method_that_a2a_never_had_is_an_error_of_the_sdk(caller: JsonClient, settings: Any) -> None:
    with sdk_agent(Says("message", PROFILE)) as url:
        configure(settings, url=url)
        answer = caller.post(BRAND, CALL)

    assert answer.json()["error"] == {"code": -32601, "message": "The agent reported an error."}


# --- the SDK's client at our reference agents ------------------------------------------------------------------------
@pytest.fixture(scope="module")
def agents() -> Iterator[str]:
    process, address = start()
    yield address
    process.terminate()
    process.communicate(timeout=MOST_SECONDS)


async def card_of(address: str) -> AgentCard:
    async with httpx.AsyncClient() as http:
        return await A2ACardResolver(http, address).get_agent_card()


def only(card: AgentCard, version: str) -> AgentCard:
    """`card` as a client reads it that knows one revision alone."""
    kept = [each for each in card.supported_interfaces if each.protocol_version == version]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(kept)
    return card


async def sent(card: AgentCard, request: SendMessageRequest, **headers: str) -> list[Any]:
    """Everything that the SDK's client makes of the answer."""
    async with httpx.AsyncClient(headers=headers) as http:
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        return [event async for event in client.send_message(request)]


def asking(text: str) -> SendMessageRequest:
    return SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))


@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_the_sdk_reads_the_card_and_gets_an_answer(version: str, agents: str) -> None:
    card = only(asyncio.run(card_of(f"{agents}/core-profile")), version)
    (event,) = asyncio.run(sent(card, asking(STORY)))

    assert [each.url for each in card.supported_interfaces] == [f"{agents}/core-profile"]
    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert event.task.id
    assert event.task.context_id
    assert event.task.status.message.role == Role.ROLE_AGENT
    assert "Zoe Doe" in json.loads(get_message_text(event.task.status.message)).values()


@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_a_context_of_the_sdk_is_kept(version: str, agents: str) -> None:
    card = only(asyncio.run(card_of(f"{agents}/core-profile")), version)
    request = asking(STORY)
    request.message.context_id = "context-of-tests"
    (event,) = asyncio.run(sent(card, request))

    assert event.task.context_id == event.task.status.message.context_id == "context-of-tests"


@pytest.mark.parametrize("version", ["0.3", "1.0"])
@pytest.mark.parametrize(
    ("agent", "parts", "error"),
    [
        ("nobody", [Part(text="Who?")], MethodNotFoundError),
        ("core", [], InvalidParamsError),
        ("core", [Part(url="https://example.org/picture")], ContentTypeNotSupportedError),
    ],
)
def test_the_sdk_knows_the_errors(
    version: str, agent: str, parts: list[Part], error: type[Exception], agents: str
) -> None:
    card = only(asyncio.run(card_of(f"{agents}/core")), version)
    card.supported_interfaces[0].url = f"{agents}/{agent}"
    message = new_message(parts, role=Role.ROLE_USER)

    with pytest.raises(error):
        asyncio.run(sent(card, SendMessageRequest(message=message)))


def test_a_method_that_the_agent_does_not_have_is_the_sdks_unknown_method(agents: str) -> None:
    card = asyncio.run(card_of(f"{agents}/core"))
    card.capabilities.streaming = True  # which no card of ours says

    with pytest.raises(MethodNotFoundError):
        asyncio.run(sent(card, asking(STORY)))


def test_a_version_that_the_agent_does_not_speak_is_refused_as_one(agents: str) -> None:
    card = asyncio.run(card_of(f"{agents}/core"))

    with pytest.raises(VersionNotSupportedError):
        asyncio.run(sent(card, asking(STORY), **{"A2A-Version": "2.0"}))


def test_every_agent_has_a_card_that_both_revisions_read(agents: str) -> None:
    for name in NAMES:
        told = httpx.get(f"{agents}/{name}/.well-known/agent-card.json").json()

        old, new = v03.AgentCard.model_validate(told), asyncio.run(card_of(f"{agents}/{name}"))
        assert (old.url, old.protocol_version, old.preferred_transport) == (f"{agents}/{name}", "0.3.0", "JSONRPC")
        assert [skill.id for skill in new.skills] == [skill.id for skill in old.skills] == [name]
        assert [each.protocol_version for each in new.supported_interfaces] == ["1.0", "0.3"]


def test_the_server_itself_has_the_card_of_the_agent_that_takes_a_description(agents: str) -> None:
    assert asyncio.run(card_of(agents)) == asyncio.run(card_of(f"{agents}/core-profile"))


@pytest.mark.parametrize("path", ["nobody/.well-known/agent-card.json", "core", "", ".well-known/agent-card.json/x"])
def test_there_is_nothing_else_to_get(path: str, agents: str) -> None:
    assert httpx.get(f"{agents}/{path}").status_code == 404
