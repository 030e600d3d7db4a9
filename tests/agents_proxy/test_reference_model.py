"""A model behind the reference agents: asked for strict JSON, given what they found, and never believed beyond that."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from examples.reference_agents.json_rpc import answer_request
from examples.reference_agents.sample import SAMPLE_DESCRIPTION
from tests.agents_proxy.reference_agents import profile_of, reply_of
from tests.fakes.agents import Agent, Asked, agent, says

pytestmark = pytest.mark.usefixtures("empty_store")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Agent, dict[str, Any]]]:
    """A server that speaks the model's API, and what it will answer."""
    content: dict[str, Any] = {"text": "{}"}

    def completion(_asked: Asked) -> Any:
        return {"choices": [{"message": {"role": "assistant", "content": content["text"]}}]}

    with agent(says(completion)) as running:
        monkeypatch.setenv("AGENT_LLM_URL", f"{running.url}/")
        monkeypatch.setenv("AGENT_LLM_MODEL", "small")
        yield running, content


def code_of(name: str, prompt: str) -> Any:
    """The code of the JSON-RPC error."""
    params = {"message": {"parts": [{"type": "text", "text": prompt}]}}
    answer = answer_request(name, {"jsonrpc": "2.0", "id": "1", "method": "tasks/send", "params": params}, "")
    return answer.get("error", {}).get("code")


def test_a_model_gets_what_the_agent_found_and_is_asked_for_json(model: Any) -> None:
    running, content = model
    content["text"] = '{"address": "Fliederweg 12", "intent_24h": {"category": "books", "confidence": 0.5}}'

    said = profile_of("public", "mara.lindholm@example.org looks for books")

    assert said == {"address": "Fliederweg 12", "intent_24h": {"category": "books", "confidence": 0.5}}
    (asked,) = running.asked
    system, user = asked.body["messages"]
    assert "Fliederweg 12" in system["content"]
    assert '"gym_membership": "true or false"' in system["content"]
    assert user == {"role": "user", "content": "mara.lindholm@example.org looks for books"}
    assert asked.body["response_format"] == {"type": "json_object"}
    assert asked.body["model"] == "small"
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "not JSON", '```json\n{"age": 3}\n```', '{"secret": "x"}', '{"age": "34"}', '{"age": true}',
        '{"age": NaN}', '{"age": 1e999}', '{"likes": "tea"}', '{"likes": [1]}', '{"gym_membership": "yes"}',
        '{"intent_24h": {"other": "x"}}', '{"city": null}', "[" * 50_000, '{"needs": {"a": "b"}}',
    ],
)  # fmt: skip
def test_what_is_not_of_the_known_members_and_kinds_is_an_error(model: Any, text: str) -> None:
    model[1]["text"] = text

    assert code_of("core", SAMPLE_DESCRIPTION) == -32000


@pytest.mark.parametrize(
    ("answered", "kept"),
    [
        ({"city": "Paris", "age": 41, "gym_membership": True, "likes": ["golf"], "country": "France"}, {}),
        ({"likes": ["golf", "tea"], "dislikes": []}, {"likes": ["tea"]}),
        ({"home_ownership": "own", "household_size": 3}, {"home_ownership": "own"}),
        ({"children_count": 2, "age": 0}, {"children_count": 2}),
        ({"phone": "+351912345678"}, {"phone": "+351912345678"}),
        ({"phone": "+351912345679"}, {}),
        ({"intent_24h": {"category": "boats", "confidence": 0.9}}, {}),
        ({"confidence_score": 7}, {}),
        ({"city": " . "}, {}),
    ],
)  # fmt: skip
def test_what_neither_prompt_nor_data_hold_is_left_out(model: Any, answered: dict[str, Any], kept: Any) -> None:
    model[1]["text"] = json.dumps(answered)

    prompt = "ana@example.org, +351 912 345 678. She owns a house, has two children and likes tea."
    said = profile_of("core", prompt)

    assert said == kept


def test_brand_answers_in_its_own_shape_alone(model: Any) -> None:
    model[1]["text"] = '{"fullName": "Mara Lindholm", "likes": ["tea"], "confidence": 0.5}'
    assert json.loads(reply_of("brand", "mara.lindholm@example.org likes tea")["text"])["likes"] == ["tea"]

    model[1]["text"] = '{"full_name": "Mara Lindholm"}'
    assert code_of("brand", "mara.lindholm@example.org") == -32000


@pytest.mark.parametrize("answer", [{}, {"choices": []}, {"choices": [{"message": {"content": None}}]}, [], "no"])
def test_a_model_without_an_answer_is_an_error(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    said: Callable[[Asked], Any] = lambda _: answer  # noqa: E731  # the fake takes a function
    with agent(says(said)) as running:
        monkeypatch.setenv("AGENT_LLM_URL", running.url)
        assert code_of("core", "Who?") == -32000
    assert code_of("core", "Who?") == -32000  # nobody listens any more


def test_what_was_created_with_a_model_is_kept(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model[1]["text"] = '{"email": "ana@example.org", "fashion_style": "avant-garde"}'
    profile_of("core-profile", "ana@example.org dresses in an avant-garde way.")
    monkeypatch.delenv("AGENT_LLM_URL")

    assert profile_of("core", "ana@example.org")["fashion_style"] == "avant-garde"


def test_to_forget_asks_no_model(model: Any) -> None:
    model[1]["text"] = '{"age": 3}'
    profile_of("core-profile", "ana@example.org")
    before = len(model[0].asked)

    assert profile_of("core-profile-update", "Forget this person\nana@example.org") == {"forgotten": True}
    assert len(model[0].asked) == before
