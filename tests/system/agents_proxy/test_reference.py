"""The reference agents: started as the program that they are, and asked over HTTP."""

import json
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
from agents_proxy.proxy.envelope import unwrapped
from examples.reference_agents import NAMES
from examples.reference_agents.agents import AGENTS, Answer
from tests.agents_proxy.agent_server import ORDER
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.runs import kept
from tests.factories import PersonFactory
from tests.fakes.agents import Speech
from tests.patience import MOST_SECONDS

ROOT = Path(__file__).resolve().parents[3]
ZOE = {"fullName": "Zoe Doe", "email": "zoe.doe@example.org", "countryCode": "+49", "phoneNumber": "3012345678"}
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


def part_of(address: str, name: str, text: str, speech: Speech = Speech.TASKS_SEND) -> Any:
    """The one part of the agent's reply."""
    message: dict[str, Any] = {"role": "user", "parts": [{"type": "text", "text": text}]}
    method = {Speech.TASKS_SEND: "tasks/send", Speech.A2A_0_3: "message/send", Speech.A2A_1_0: "SendMessage"}[speech]
    if speech is Speech.A2A_0_3:
        message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}
    elif speech is Speech.A2A_1_0:
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
    params = {"message": message, **({"sessionId": "session-1"} if speech is Speech.TASKS_SEND else {})}
    answer = requests.post(
        f"{address}/{name}",
        json={"jsonrpc": "2.0", "id": "task-1", "method": method, "params": params},
        headers={"A2A-Version": "1.0" if speech is Speech.A2A_1_0 else ""},
        timeout=MOST_SECONDS,
    )
    (part,) = unwrapped(answer.json()["result"])["status"]["message"]["parts"]
    return part


def ask(address: str, name: str, text: str, speech: Speech = Speech.TASKS_SEND) -> Any:
    """What the agent's text says: JSON that is bare, fenced or wrapped, by agent."""
    said = part_of(address, name, text, speech)["text"]
    said = json.loads(said.removeprefix("```json\n").removesuffix("\n```"))
    return said.get("userProfile", said)


def sources(address: str, name: str, text: str, speech: Speech = Speech.TASKS_SEND) -> Any:
    """Where the agent says that each field comes from."""
    return part_of(address, name, text, speech)["metadata"]["sources"]


def test_numbering_plans_tell_country_region_line_and_zone(agents: str) -> None:
    assert ask(agents, "public", profile_prompt(ZOE)) == {
        "country": "Germany",
        "phone_region": "Berlin",
        "phone_line_type": "fixed line",
        "time_zone": "Europe/Berlin",
        "confidence_score": 0.9,
    }
    named = ["country", "phone_region", "phone_line_type", "time_zone"]
    assert sources(agents, "public", profile_prompt(ZOE)) == dict.fromkeys(named, "numbering_plan")


def test_identifiers_come_from_the_prompt_and_the_wanted_members_do_not_count(agents: str) -> None:
    assert ask(agents, "core", profile_prompt(ZOE)) == {
        "full_name": "Zoe Doe",
        "email": "zoe.doe@example.org",
        "phone": "+493012345678",
        "confidence_score": 1.0,
    }
    named = ["full_name", "email", "phone"]
    assert sources(agents, "core", profile_prompt(ZOE)) == dict.fromkeys(named, "prompt")


def test_a_profile_out_of_labelled_lines(agents: str) -> None:
    made = ask(agents, "core-profile", STORY)

    assert made == {
        "full_name": "Zoe Doe", "email": "zoe@example.org", "phone": "+4915123456789", "age": 34, "city": "Berlin",
        "occupation": "software engineer", "diet_preference": "vegetarian", "likes": ["tea", "jazz", "hiking"],
        "dislikes": ["loud bars"], "country": "Germany", "phone_line_type": "mobile", "time_zone": "Europe/Berlin",
        "confidence_score": 0.97,
    }  # fmt: skip
    assert sources(agents, "core-profile", STORY).keys() == made.keys() - {"confidence_score"}


def test_an_update_changes_what_it_mentions_alone(agents: str) -> None:
    ask(agents, "core-profile", "Email: bo@example.org\nAge: 33\nCity: Bonn")

    updated = ask(agents, "core-profile-update", "bo@example.org\nAge: 34")

    assert updated == {"email": "bo@example.org", "age": 34, "city": "Bonn"}
    assert sources(agents, "core-profile-update", "bo@example.org\nAge: 34") == {"age": "prompt"}


def test_a_name_that_only_the_address_tells_is_worth_less(agents: str) -> None:
    known = ask(agents, "second", "Who is zoe.doe@example.org?")

    assert known == {"full_name": "Zoe Doe", "email_domain": "example.org", "confidence_score": 0.75}
    assert sources(agents, "second", "Who is zoe.doe@example.org?")["full_name"] == "email_address"


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
    assert ask(agents, "brand", '{"likes": ["tea"], "confidence": NaN}') == {"likes": ["tea"], "confidence": 0.0}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("prompt", ["What is the weather?", "{}", "{" * 5000, "+49 1", "a@b", "\u202e \x01"])
def test_what_is_not_known_is_left_out(name: str, prompt: str) -> None:
    assert AGENTS[name](prompt) == Answer({})


def test_the_names_that_run_looks_for_are_those_that_answer() -> None:
    assert set(NAMES) == set(AGENTS)


@pytest.mark.parametrize("speech", list(Speech))
def test_every_protocol_is_spoken(speech: Speech, agents: str) -> None:
    assert ask(agents, "core", STORY, speech)["full_name"] == "Zoe Doe"
    assert sources(agents, "core", STORY, speech)["full_name"] == "prompt"


@pytest.mark.django_db
@pytest.mark.parametrize("protocol", [Protocol.TASKS_SEND, Protocol.A2A])
def test_an_analysis_takes_no_source_for_a_field_of_the_person(protocol: Protocol, agents: str, settings: Any) -> None:
    told = {"token": "", "timeout": 30.0, "protocol": protocol}
    settings.AGENTS = {**settings.AGENTS, **{name: {**told, "url": f"{agents}/{name}"} for name in ORDER}}
    zoe = owning(PersonFactory(email=ZOE["email"]), ZOE["countryCode"] + ZOE["phoneNumber"])
    run = analysis_actions.start_analysis(by=zoe, submitted=ZOE)

    steps.run_through(run.pk)

    run = kept(run)
    assert run.status == "completed"
    assert results.merged_of(list(run.steps.all())).profile == {
        "full_name": "Zoe Doe", "email": "zoe.doe@example.org", "phone": "+493012345678", "confidence": 1.0,
        "country": "Germany", "phone_region": "Berlin", "phone_line_type": "fixed line", "time_zone": "Europe/Berlin",
        "email_domain": "example.org", "given_name": "Zoe", "family_name": "Doe", "confidence_score": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("core", b"{", -32700), ("core", b"[]", -32600), ("core", b'{"jsonrpc": "2.0", "id": 1}', -32600),
        ("nobody", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/send"}', -32601), ("core", b"[" * 100_000, -32700),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/get"}', -32601),
        ("core", rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "tasks/get"}', -32601),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {}}', -32602),
        ("core", b'{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}', -32009),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_a_json_rpc_error(path: str, body: bytes, code: int, agents: str) -> None:
    answer = urllib3.request("POST", f"{agents}/{path}", body=body, retries=False)

    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://other.example"}, {"Origin": "null"}, {"Host": "rebound.example:80"}]
)
def test_no_web_page_reaches_them(headers: dict[str, str], agents: str) -> None:
    asked = {"jsonrpc": "2.0", "id": "task-1", "method": "tasks/send", "params": {}}

    answer = requests.post(f"{agents}/core", json=asked, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, -32600)
