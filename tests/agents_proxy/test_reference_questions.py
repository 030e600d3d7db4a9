"""The reference agent that asks for a field first where the person wants that, and takes the answer once."""

from typing import Any

import pytest

from examples.reference_agents.json_rpc import answer_request
from tests.agents_proxy.reference_agents import profile_of, unwrapped

KEPT = "Email: quinn@example.org\nDislikes: loud bars\nAsk me: dislikes"
PROMPT = "Who is quinn@example.org?"


@pytest.fixture(autouse=True)
def kept() -> None:
    profile_of("core-profile", KEPT)


def tasks_send(text: str, task: str) -> Any:
    params = {"sessionId": "session-1", "message": {"role": "user", "parts": [{"type": "text", "text": text}]}}
    request = {"jsonrpc": "2.0", "id": task, "method": "tasks/send", "params": params}
    return answer_request("core", request)["result"]


def text_of(task: Any) -> str:
    return str(task["status"]["message"]["parts"][0]["text"])


def test_it_asks_and_takes_the_answer_once() -> None:
    question = tasks_send(PROMPT, "task-asking")
    repeated = tasks_send(PROMPT, "task-asking")
    answered = tasks_send("crowded trains, rain", "task-asking")
    later = tasks_send(PROMPT, "task-later")

    assert question["status"]["state"] == "input-required"
    assert text_of(question) == "Please tell us your dislikes. So far: loud bars."
    assert repeated == question
    assert answered["status"]["state"] == "completed"
    assert unwrapped(text_of(answered))["dislikes"] == ["crowded trains", "rain"]
    assert later["status"]["state"] == "input-required"


def test_an_answer_names_the_task_that_asked() -> None:
    tasks_send(PROMPT, "task-asking")

    assert unwrapped(text_of(tasks_send("crowded trains, rain", "task-another"))) == {}
