"""A chat completions endpoint in an agent's place: nothing that the prompt does not say comes out of it."""

import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.agents import AGENTS
from agents_proxy.analyses.prompts import profile_prompt
from agents_proxy.errors import AgentBusy
from agents_proxy.proxy.chat import MOST_ENTRIES, TEMPLATES
from agents_proxy.proxy.models import Call
from tests.agents_proxy.proxy_calls import configure, consenting, refusal
from tests.callers import JsonClient, signed_in
from tests.fakes.chat import KEY, MODEL, Chat, chatting

TEXT = "I am Ana, 34 years old, and earn 52,000 a year. I like green tea and jazz. I go to a gym; my flat has 2 rooms."
ROOMS = "The flat has 4.5 rooms. We are 4."
CALL = {"text": TEXT, "sessionId": "session-42", "id": "task-one"}


@pytest.fixture
def model() -> Iterator[Chat]:
    with chatting() as running:
        yield running


@pytest.fixture
def caller(person: User, model: Chat, settings: Any) -> JsonClient:
    put(settings, "core-profile", model)
    return signed_in(consenting(person))


def put(settings: Any, agent: str, model: Chat, **more: Any) -> None:
    configure(settings, agent, **{"url": model.url, "token": KEY, "protocol": "openai", "model": MODEL, **more})


def entry(name: str, value: Any, quote: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "quote": quote}


def profile_in(answer: Any) -> Any:
    [part] = answer.json()["result"]["status"]["message"]["parts"]
    return json.loads(part["text"])


def test_what_the_prompt_says_comes_as_a_task_that_is_done(caller: JsonClient, model: Chat) -> None:
    model.entries = [entry("full_name", "Ana", "I am Ana"), entry("age", 34, "34 years old")]
    answer = caller.post("/api/a2a/core-profile", CALL)

    text = json.dumps({"full_name": "Ana", "age": 34})
    message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
    status = {"state": "completed", "message": message}
    result = {"id": "task-one", "sessionId": "session-42", "status": status}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": "task-one", "result": result})
    [request], [headers] = model.requests, model.headers
    assert request.keys() == {"model", "messages", "response_format"}
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][1]["content"] == TEXT
    assert "x-processing-consent" in headers
    assert Call.objects.get().outcome == "answered"


@pytest.mark.parametrize(
    ("name", "value", "quote", "stands"),
    [
        ("full_name", "ana", "I  AM Ana", True),
        ("full_name", "Ana Doe", "I am Ana", False),
        ("full_name", "Ana", "Ana Doe", False),
        ("full_name", "Ana", "", False),
        ("full_name", "", "I am Ana", False),
        ("full_name", "am An", "I am Ana", False),
        ("full_name", "Ana", None, False),
        ("age", 34, "34 years old", True),
        ("age", 35, "34 years old", False),
        ("age", 3, "34 years old", False),
        ("income_bracket", 52000, "earn 52,000 a year", True),
        ("income_bracket", 52, "earn 52,000 a year", True),  # as some write it
        ("income_bracket", 5200, "earn 52,000 a year", False),
        ("income_bracket", "52,000", "earn 52,000 a year", True),
        ("household_size", "4", "4.5 rooms", False),
        ("household_size", 4, "4.5 rooms", False),
        ("household_size", "5", "4.5 rooms", False),
        ("household_size", "4.5", "4.5 rooms", True),
        ("household_size", "4", "We are 4.", True),
        ("gym_membership", True, "I go to a gym", True),
        ("gym_membership", True, "gym", False),
        ("gym_membership", True, "I have a membership", False),
        ("no_such_field", "Ana", "I am Ana", False),
        (["full_name"], "Ana", "I am Ana", False),
        ("full_name", ["Ana"], "I am Ana", False),
        ("full_name", None, "I am Ana", False),
    ],
)
def test_a_value_stands_where_its_words_bear_it(
    name: Any, value: Any, quote: Any, stands: bool, caller: JsonClient, model: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    model.entries = [entry(name, value, quote)]
    with caplog.at_level("INFO", logger="agents_proxy.proxy.calls"):
        answer = caller.post("/api/a2a/core-profile", {**CALL, "text": f"{TEXT} {ROOMS}"})

    assert profile_in(answer) == ({name: value} if stands else {})
    dropped = [record.getMessage() for record in caplog.records if "does not say" in record.getMessage()]
    assert dropped == ([] if stands else ["the agent core-profile gave 1 values that the prompt does not say"])


def test_of_what_never_ends_the_beginning_is_taken(
    caller: JsonClient, model: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    many = [entry("full_name", "Ana", "I am Ana")] * MOST_ENTRIES
    model.entries = [*many, entry("age", 34, "34 years old")]
    with caplog.at_level("INFO", logger="agents_proxy.proxy.calls"):
        answer = caller.post("/api/a2a/core-profile", CALL)

    assert profile_in(answer) == {"full_name": "Ana"}
    assert "gave 1 values that the prompt does not say" in caplog.text


def test_a_brand_agent_answers_in_the_shape_of_2_6(person: User, model: Chat, settings: Any) -> None:
    put(settings, "brand", model, url=f"{model.url}/chat/completions")
    model.entries = [
        entry("likes", "green tea", "I like green tea"), entry("likes", "jazz", "tea and jazz"),
        entry("likes", "jazz", "tea and jazz"), entry("likes", "coffee", "coffee"),
        entry("shopping_preferences.category_focus", "tea", "green tea"),
    ]  # fmt: skip
    answer = signed_in(consenting(person)).post("/api/a2a/brand", CALL)

    assert profile_in(answer) == {"likes": ["green tea", "jazz"], "shopping_preferences": {"category_focus": ["tea"]}}


def test_of_a_prompt_of_ours_the_data_alone_is_quoted(person: User, model: Chat, settings: Any) -> None:
    put(settings, "brand", model)
    ana = {"fullName": "Ana Sá", "email": person.email, "countryCode": "+351", "phoneNumber": "912345678"}
    text = profile_prompt(ana, {"likes": ["Muji"]}, with_number=False)
    model.entries = [
        entry("likes", "Muji", "Muji"), entry("fullName", "Ana Sá", "Ana Sá"), entry("likes", "Leave", "Leave out"),
    ]  # fmt: skip
    answer = signed_in(consenting(person)).post("/api/a2a/brand", {**CALL, "text": text})

    assert profile_in(answer) == {"likes": ["Muji"], "fullName": "Ana Sá"}


TOOL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
ASSISTANT = {"role": "assistant", "content": None, "refusal": None}
UNFINISHED = {
    "a refusal": {"message": {**ASSISTANT, "refusal": "I'm sorry, I cannot assist with that request."}},
    "a cut": {"message": {**ASSISTANT, "content": '{"entries": ['}, "finish_reason": "length"},
    "a tool": {"message": {**ASSISTANT, "tool_calls": [TOOL]}, "finish_reason": "tool_calls"},
    "a filter": {"message": {**ASSISTANT, "content": ""}, "finish_reason": "content_filter"},
}


@pytest.mark.parametrize("choice", UNFINISHED.values(), ids=UNFINISHED)
def test_what_is_no_whole_answer_is_a_task_that_failed(choice: Any, caller: JsonClient, model: Chat) -> None:
    model.choice = choice
    answer = caller.post("/api/a2a/core-profile", CALL)

    error = {"code": -32056, "message": "The agent could not do this.", "data": {"code": "agent_failed"}}
    assert (answer.status_code, answer.json()["error"]) == (200, error)
    assert Call.objects.get().outcome == "agent_failed"


@pytest.mark.parametrize(
    "content",
    [
        "Here you are!",
        '{"entries": 7}',
        '{"entries": [7]}',
        "[]",
        '{"profile": {}}',
        '{"mood": "I am Ana"}',
        "",
        None,
        7,
    ],
)
def test_what_is_not_as_the_schema_says_makes_no_sense(content: Any, caller: JsonClient, model: Chat) -> None:
    model.choice = {"message": {**ASSISTANT, "content": content}}

    assert refusal(caller.post("/api/a2a/core-profile", CALL)) == (502, -32006, "invalid_agent_response")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_local_server_that_fences_its_json_is_read(end: str, caller: JsonClient, model: Chat) -> None:
    content = json.dumps({"entries": [entry("full_name", "Ana", "I am Ana")]})
    fenced = f"```json{end}{content}{end}```{end}"
    model.choice = {"message": {**ASSISTANT, "content": fenced}, "finish_reason": None}

    assert profile_in(caller.post("/api/a2a/core-profile", CALL)) == {"full_name": "Ana"}


@pytest.mark.parametrize(
    "written",
    [
        lambda body: gzip.compress(body.encode()),
        lambda body: body.encode("utf-16"),
        lambda body: body.replace('"logprobs": null', '"logprobs": NaN').encode(),
    ],
)
def test_an_answer_is_read_however_its_body_is_written(
    written: Callable[[str], bytes], caller: JsonClient, model: Chat
) -> None:
    model.entries, model.written = [entry("full_name", "Ana", "I am Ana")], written

    assert profile_in(caller.post("/api/a2a/core-profile", CALL)) == {"full_name": "Ana"}


def test_a_server_that_passes_over_the_schema_is_held_to_the_prompt_too(
    person: User, model: Chat, settings: Any
) -> None:
    put(settings, "brand", model)
    plain = {
        "fullName": "Ana", "email": "ana@example.org", "likes": ["green tea", "cars", 7, None],
        "shopping_preferences": {"channel": "gym", "price_sensitivity": True}, "mood": "Ana",
    }  # fmt: skip
    model.choice = {"message": {**ASSISTANT, "content": json.dumps(plain)}, "finish_reason": "stop"}
    answer = signed_in(consenting(person)).post("/api/a2a/brand", CALL)

    assert profile_in(answer) == {
        "fullName": "Ana", "likes": ["green tea"], "shopping_preferences": {"channel": "gym"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (429, (429, -32052, "too_many_requests")),
        (401, (502, -32057, "agent_refused_us")),
        (400, (502, -32053, "upstream_unavailable")),
        (500, (502, -32053, "upstream_unavailable")),
    ],
)
def test_an_error_of_the_endpoint_is_told_by_its_kind(
    status: int, expected: tuple[int, int, str], caller: JsonClient, model: Chat
) -> None:
    error = {"error": {"message": f"{KEY} is over its rate limit", "type": "requests", "param": None, "code": None}}
    model.error = (status, error, {"Retry-After": "20"})
    answer = caller.post("/api/a2a/core-profile", CALL)

    assert refusal(answer) == expected
    assert answer.headers.get("Retry-After") == ("20" if status == AgentBusy.status else None)
    assert KEY not in answer.content.decode()


def test_models_stand_in_for_agents_with_a_template_alone() -> None:
    assert {name for name, agent in AGENTS.items() if agent.by_model} == set(TEMPLATES) == {"core-profile", "brand"}
