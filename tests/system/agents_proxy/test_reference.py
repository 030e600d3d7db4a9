"""The reference agents: started as the program that they are, and asked over HTTP."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from agents_proxy.agents import Protocol
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import results, steps
from agents_proxy.analyses.prompts import profile_prompt
from examples.reference_agents import NAMES
from examples.reference_agents.agents import AGENTS
from examples.reference_agents.prompts import Call
from tests.agents_proxy.agent_server import ORDER
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.reference_agents import unwrapped
from tests.agents_proxy.runs import kept
from tests.factories import PersonFactory
from tests.fakes.chat import KEY, MODEL, chatting
from tests.patience import MOST_SECONDS

ROOT = Path(__file__).resolve().parents[3]
ZOE = {"fullName": "Zoe Doe", "email": "zoe.doe@example.org", "countryCode": "+49", "phoneNumber": "3012345678"}
CALL = {
    "jsonrpc": "2.0", "id": "task-1", "method": "tasks/send",
    "params": {"message": {"parts": [{"type": "text", "text": "Who is zoe@example.org?"}]}},
}  # fmt: skip
STORY = """Create a profile of this person; call +49 151 23456789 or write to zoe@example.org.
Name: Zoe Doe
Age: 34
City: Berlin
Occupation: software engineer
Diet preference: vegetarian
Likes: tea, jazz, hiking
Dislikes: loud bars
"""


def start(*arguments: str, **env: str) -> tuple["subprocess.Popen[str]", str]:
    """The program on a port of its own, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "examples.reference_agents", "--port", "0", "--without-consent", *arguments],
        cwd=ROOT, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    found = re.search(r"port (\d+)", process.stderr.readline())
    assert found
    return process, f"http://127.0.0.1:{found[1]}"


@pytest.fixture(scope="module")
def agents() -> Iterator[str]:
    process, address = start()
    yield address
    process.terminate()
    process.communicate(timeout=MOST_SECONDS)


def ask(address: str, name: str, text: str) -> Any:
    """What the agent's text says: JSON that is bare, fenced or wrapped, by agent."""
    message = {"role": "user", "parts": [{"type": "text", "text": text}]}
    params = {"message": message, "sessionId": "session-1"}
    called = {"jsonrpc": "2.0", "id": "task-1", "method": "tasks/send", "params": params}
    answer = requests.post(f"{address}/{name}", json=called, timeout=MOST_SECONDS)
    (part,) = answer.json()["result"]["status"]["message"]["parts"]
    return unwrapped(part["text"])


def test_numbering_plans_tell_the_country(agents: str) -> None:
    assert ask(agents, "public", profile_prompt(ZOE)) == {"country": "Germany", "confidence_score": 0.9}


def test_identifiers_come_from_the_prompt_and_the_wanted_members_do_not_count(agents: str) -> None:
    assert ask(agents, "core", profile_prompt(ZOE)) == {
        "full_name": "Zoe Doe",
        "email": "zoe.doe@example.org",
        "phone": "+493012345678",
        "confidence_score": 1.0,
    }


def test_a_profile_out_of_labelled_lines(agents: str) -> None:
    assert ask(agents, "core-profile", STORY) == {
        "full_name": "Zoe Doe", "email": "zoe@example.org", "phone": "+4915123456789", "age": 34, "city": "Berlin",
        "occupation": "software engineer", "diet_preference": "vegetarian", "likes": ["tea", "jazz", "hiking"],
        "dislikes": ["loud bars"], "country": "Germany", "confidence_score": 1.0,
    }  # fmt: skip


def test_an_update_changes_what_it_mentions_alone(agents: str) -> None:
    ask(agents, "core-profile", "Email: bo@example.org\nAge: 33\nCity: Bonn")

    assert ask(agents, "core-profile-update", "bo@example.org\nAge: 34") == {
        "email": "bo@example.org", "age": 34, "city": "Bonn",
    }  # fmt: skip


def test_brand_answers_in_its_shape_as_far_as_it_knows(agents: str) -> None:
    signals = {
        "likes": ["coffee"], "dislikes": ["Shoe Shed"], "brand_affinities": ["Muji"], "confidence": 0.4,
        "shopping_preferences": {"category_focus": ["home", "travel"], "price_sensitivity": "low", "channel": "online"},
    }  # fmt: skip

    assert ask(agents, "brand", profile_prompt(ZOE, signals)) == {
        "fullName": "Zoe Doe", "email": "zoe.doe@example.org", "phone": "+493012345678", **signals,
    }  # fmt: skip


def test_brand_is_as_sure_as_the_prompt_where_no_signals_say_otherwise(agents: str) -> None:
    assert ask(agents, "brand", STORY)["confidence"] == 1.0
    assert ask(agents, "brand", '{"likes": ["tea"], "confidence": "NaN"}') == {"likes": ["tea"], "confidence": 1.0}
    assert ask(agents, "brand", '{"likes": ["tea"], "confidence": 1e999}') == {"likes": ["tea"], "confidence": 1.0}
    assert ask(agents, "brand", '{"likes": ["tea"], "confidence": NaN}') == {"likes": ["tea"], "confidence": 1.0}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("prompt", ["What is the weather?", "{}", "{" * 5000, "+49 1", "a@b", "\u202e \x01"])
def test_what_is_not_known_is_left_out(name: str, prompt: str) -> None:
    assert AGENTS[name](Call(prompt)) == {}


def test_the_names_that_run_looks_for_are_those_that_answer() -> None:
    assert set(NAMES) == set(AGENTS)


@pytest.mark.django_db
def test_an_analysis_finds_what_is_known_of_anybody(agents: str, settings: Any) -> None:
    options = {"token": "", "timeout": 30.0, "protocol": Protocol.TASKS_SEND}
    settings.AGENTS = {**settings.AGENTS, **{name: {**options, "url": f"{agents}/{name}"} for name in ORDER}}
    zoe = owning(PersonFactory(email=ZOE["email"]), ZOE["countryCode"] + ZOE["phoneNumber"])
    run = analysis_actions.start_analysis(by=zoe, submitted=ZOE)

    steps.run_through(run.pk)

    run = kept(run)
    assert run.status == "completed"
    assert results.merged_of(list(run.steps.all())).profile == {
        "full_name": "Zoe Doe", "email": "zoe.doe@example.org", "phone": "+493012345678", "confidence": 1.0,
        "country": "Germany", "confidence_score": 0.9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("core", b"{", -32700), ("core", b"[]", -32600), ("core", b'{"jsonrpc": "2.0", "id": 1}', -32600),
        ("nobody", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/send"}', -32601), ("core", b"[" * 100_000, -32700),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/get"}', -32601),
        ("core", rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "tasks/get"}', -32601),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {}}', -32602),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {"message": {"parts": []}}}', -32602),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_a_json_rpc_error(path: str, body: bytes, code: int, agents: str) -> None:
    answer = urllib3.request("POST", f"{agents}/{path}", body=body, retries=False)

    assert answer.json()["error"]["code"] == code


@pytest.mark.own_process("the model is named by the environment of the program")
def test_a_model_reads_prose_and_what_it_invents_is_dropped() -> None:
    prose = "Write to kim@example.org. Kim, 41, lives in Kiel, is a vegan and likes rowing and rain."
    with chatting() as chat:
        entries = [("city", "Kiel"), ("age", "41"), ("diet_preference", "vegan"), ("likes", "tea"), ("shoe", "rain")]
        chat.entries = [{"field": name, "quote": quote} for name, quote in entries]
        process, address = start(LLM_BASE_URL=chat.url, LLM_MODEL=MODEL, LLM_API_KEY=KEY)
        try:
            made = ask(address, "core-profile", prose)
            chat.error = (429, {"error": {"message": "later"}}, {})
            refused = requests.post(f"{address}/core-profile", json=CALL, timeout=MOST_SECONDS).json()
        finally:
            process.terminate()
            process.communicate(timeout=MOST_SECONDS)

    assert made == {
        "email": "kim@example.org", "city": "Kiel", "age": 41, "diet_preference": "vegan", "confidence_score": 1.0,
    }  # fmt: skip
    assert chat.requests[0]["messages"][1]["content"] == prose
    assert refused["error"]["code"] == -32000
