"""A2A as our side speaks it: which card is taken, how a task is followed, and what a broken stream costs."""

import gzip
import json
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.agents import Protocol, Upstream
from agents_proxy.errors import InvalidAgentResponse
from agents_proxy.proxy.envelope import Prompt, Reply, renamed
from agents_proxy.proxy.events import Events
from agents_proxy.proxy.upstream import call
from tests.agents_proxy.proxy_calls import CALL, configure, consenting
from tests.callers import signed_in
from tests.factories import PersonFactory
from tests.fakes.agents import Agent, Behaviour, Call, Speech, agent, answers, answers_with, card_of, http, with_card

PROMPT = Prompt("Who is Zoe?", "session-42", "task-one")
A2A = [Speech.A2A_0_3, Speech.A2A_1_0]
METHODS = {
    Speech.A2A_0_3: ["message/send", "tasks/get", "message/stream"],
    Speech.A2A_1_0: ["SendMessage", "GetTask", "SendStreamingMessage"],
}


def reply_of(running: Agent, path: str = "") -> Reply:
    return call(Upstream(running.url + path, "", 20, Protocol.A2A), PROMPT)


def task(state: str, **more: Any) -> dict[str, Any]:
    return {"id": "t", "contextId": "c", "status": {"state": state}, **more}


def in_turn(*results: Any) -> Behaviour:
    """An agent that gives these results, one after another."""
    left = list(results)
    return answers_with(lambda request: {"jsonrpc": "2.0", "id": request.body["id"], "result": left.pop(0)})


def methods(running: Agent) -> list[str]:
    return [request.body["method"] for request in running.prompts]


# --- the card --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "method", "version"),
    [
        ({}, "message/send", None),
        ({"protocolVersion": "0.2.6", "preferredTransport": "JSONRPC"}, "message/send", None),
        ({"supportedInterfaces": ["x", {"protocolBinding": "GRPC", "protocolVersion": "1.0"}]}, "message/send", None),
        ({"supportedInterfaces": [("0.3", "JSONRPC"), ("1.0", "JSONRPC")]}, "SendMessage", "1.0"),
        ({"supportedInterfaces": [("1.0", "GRPC"), ("0.3", "JSONRPC")]}, "message/send", None),
        ({"supportedInterfaces": [("1.1", "JSONRPC")], "url": None}, None, None),
        ({"preferredTransport": "GRPC", "additionalInterfaces": [("", "JSONRPC")]}, "message/send", None),
        ({"preferredTransport": "GRPC"}, None, None),
        ({"url": "https://elsewhere.example/"}, None, None),
        ({"url": 7}, None, None),
    ],
)
def test_the_newest_revision_over_json_rpc_on_the_configured_origin_is_taken(
    changes: dict[str, Any], method: str | None, version: str | None
) -> None:
    def behave(connection: Any, call: Call, running: Agent) -> None:
        if call.line.startswith("POST "):
            answers()(connection, call, running)
            return
        card = {**card_of(running.url, Speech.A2A_0_3), **changes}
        for member, (first, second) in {
            "supportedInterfaces": ("protocolVersion", "protocolBinding"), "additionalInterfaces": ("", "transport"),
        }.items():  # fmt: skip
            card[member] = [
                {"url": running.url, first: one[0], second: one[1]} if isinstance(one, tuple) else one
                for one in card.get(member, [])
            ]
        connection.sendall(http("200 OK", json.dumps(card).encode()))

    with agent(behave) as running:
        if method is None:
            with pytest.raises(InvalidAgentResponse) as refused:
                reply_of(running)
            assert "agent card names" in refused.value.upstream_text
        else:
            reply_of(running)

    assert methods(running) == ([method] if method else [])
    assert [request.headers.get("a2a-version") for request in running.prompts] == ([version] if method else [])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (("404 Not Found", b"{}"), "no agent card: HTTP 404"),
        (("200 OK", b"<html>"), "the agent card is not JSON"),
        (("200 OK", b"\x1f\x8b\x08"), "the agent card is not JSON"),
        (("200 OK", gzip.compress(b"[]")), "the agent card names no address for JSON-RPC in A2A 0.3 or 1.0"),
        (("200 OK", b"[]"), "the agent card names no address for JSON-RPC in A2A 0.3 or 1.0"),
    ],
)
def test_without_a_card_nothing_is_sent(answer: tuple[str, bytes], why: str) -> None:
    behave = answers_with(lambda _: answer[1], status=answer[0])
    with agent(behave) as running, pytest.raises(InvalidAgentResponse) as refused:
        reply_of(running)

    assert (refused.value.upstream_text, running.prompts) == (why, [])


@pytest.mark.parametrize(
    "url", ["http://[::1/", "http://{here}9999/", "http://elsewhere.example\\@{here}/", "http://us:secret@{here}/",
            "//{here}", "http://{here}/a\r\nb"],
)  # fmt: skip
def test_an_address_that_can_be_read_in_two_ways_or_in_none_is_not_taken(url: str) -> None:
    def behave(connection: Any, call: Call, running: Agent) -> None:
        here = running.url.split("/")[2]
        with_card(answers(), Speech.A2A_0_3, url=url.format(here=here))(connection, call, running)

    with agent(behave) as running, pytest.raises(InvalidAgentResponse) as refused:
        reply_of(running)

    assert "on another origin" in refused.value.upstream_text
    assert len(running.calls) == 1


@pytest.mark.parametrize("path", ["", "/", "/the-card.json"])
def test_the_card_lies_below_the_address_or_is_it_and_is_read_once(path: str) -> None:
    with agent(with_card(answers(), Speech.A2A_0_3)) as running:
        for _ in range(2):
            reply_of(running, path)

    [got] = [request.line for request in running.calls if request.line.startswith("GET ")]
    assert got.split()[1].endswith("the-card.json" if path == "/the-card.json" else "/.well-known/agent-card.json")
    assert "//.well" not in got


def test_a_tenant_of_the_card_is_named() -> None:
    def behave(connection: Any, call: Call, running: Agent) -> None:
        card = card_of(running.url, Speech.A2A_1_0)
        card["supportedInterfaces"][0]["tenant"] = "ours"
        with_card(in_turn(task("completed")), Speech.A2A_1_0, **card)(connection, call, running)

    with agent(behave) as running:
        reply_of(running)

    assert running.prompts[0].body["params"]["tenant"] == "ours"


def test_what_is_nested_as_deep_as_may_be_gets_the_names_of_its_caller() -> None:
    deep: Any = "task-one"
    for _ in range(27):
        deep = {"a": deep}
    answered = {"kind": "message", "parts": [{"kind": "data", "data": deep}]}
    with agent(with_card(in_turn(answered), Speech.A2A_0_3)) as running:
        reply = renamed(reply_of(running), {"task-one": "theirs"})

    assert reply.body.count(b"theirs") == 3
    assert b"task-one" not in reply.body


# --- the task --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("speech", A2A)
def test_a_task_is_looked_at_until_it_settles_and_put_once(speech: Speech) -> None:
    done = task("completed", artifacts=[{"parts": [{"text": "one"}, {"url": "https://files.example/"}]}])
    with agent(with_card(in_turn(task("submitted"), task("working"), done), speech)) as running:
        reply = reply_of(running)

    put, get, _ = METHODS[speech]
    assert methods(running) == [put, get, get]
    assert [request.body["params"] for request in running.prompts[1:]] == [{"id": "t", "historyLength": 0}] * 2
    assert reply.result == {
        "id": "task-one", "sessionId": "session-42", "status": {"state": "completed"},
        "artifacts": [{"artifactId": "0", "parts": [{"type": "text", "text": "one"}]}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "result",
    [{"status": {"state": "working"}}, {"id": "t"}, {"id": "t", "status": []}, None, [], "done", {"task": "t"}],
)
def test_what_is_no_task_or_cannot_be_looked_at_makes_no_sense(result: Any) -> None:
    with agent(with_card(in_turn(result), Speech.A2A_0_3)) as running, pytest.raises(InvalidAgentResponse):
        reply_of(running)

    assert len(running.prompts) == 1


def streaming(*events: Any, cut: str = "", then: Any = None) -> Behaviour:
    """An agent that streams these events, and answers `then` to whoever asks again. `cut`: of its length, or in chunks
    of which no last one comes."""

    def behave(connection: Any, call: Call, running: Agent) -> None:
        rpc = [{"jsonrpc": "2.0", "id": call.body["id"], "result": event} for event in events]
        if len(running.prompts) > 1:
            answered = {"jsonrpc": "2.0", "id": call.body["id"], "result": then}
            connection.sendall(http("200 OK", json.dumps(answered).encode()))
            return
        body = b"".join(b": still here\r\n\r\ndata: %b\r\n\r\n" % json.dumps(each).encode() for each in rpc)
        framing = {"content_length": str(len(body) + 100 * (cut == "length"))}
        if cut == "chunks":
            body, framing = b"%x\r\n%b\r\n" % (len(body), body), {"content_length": "", "transfer_encoding": "chunked"}
        connection.sendall(http("200 OK", body, content_type="text/event-stream", **framing))
        if cut:
            connection.shutdown(2)

    return behave


WORKING = {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}}
CHUNKS = [
    {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": '{"a'}]}}},
    {"artifactUpdate": {"taskId": "t", "append": True, "artifact": {"artifactId": "a", "parts": [{"text": '": 1}'}]}}},
]
DONE = {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}
PARTS = [{"type": "text", "text": '{"a'}, {"type": "text", "text": '": 1}'}]


def test_a_stream_is_read_to_the_end_of_the_task() -> None:
    behave = streaming({"task": task("TASK_STATE_SUBMITTED")}, WORKING, *CHUNKS, DONE, {"task": task("failed")})
    with agent(with_card(behave, Speech.A2A_1_0, capabilities={"streaming": True})) as running:
        reply = reply_of(running)

    assert methods(running) == ["SendStreamingMessage"]
    assert reply.result["artifacts"] == [{"artifactId": "a", "parts": PARTS}]


def test_a_stream_tells_how_much_has_come_but_for_its_end() -> None:
    counts: list[int] = []
    behave = streaming({"task": task("TASK_STATE_SUBMITTED")}, WORKING, *CHUNKS, DONE)
    with agent(with_card(behave, Speech.A2A_1_0, capabilities={"streaming": True})) as running:
        call(Upstream(running.url, "", 20, Protocol.A2A), PROMPT, arrived=counts.append)

    assert counts == list(range(1, 3 + len(CHUNKS)))


@pytest.mark.parametrize("cut", ["", "length", "chunks"])
def test_a_stream_that_ends_early_is_gone_on_with_by_asking(cut: str) -> None:
    finished = task("completed", artifacts=[{"artifactId": "a", "parts": [{"data": {"a": 1}}]}])
    behave = streaming(WORKING, *CHUNKS, cut=cut, then=finished)
    with agent(with_card(behave, Speech.A2A_0_3, capabilities={"streaming": True})) as running:
        reply = reply_of(running)

    assert methods(running) == ["message/stream", "tasks/get"]
    assert reply.result["artifacts"] == [{"artifactId": "a", "parts": [{"type": "data", "data": {"a": 1}}]}]


def test_who_offers_a_stream_may_answer_without_one() -> None:
    with agent(with_card(in_turn(task("completed")), Speech.A2A_0_3, capabilities={"streaming": True})) as running:
        assert reply_of(running).state == "completed"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_events_are_whole_wherever_their_body_is_cut(mark: str, end: str, size: int) -> None:
    seen: list[bytes] = []
    events = Events(lambda data: (seen.append(data) is not None or len(seen) == 3, None))
    text = f'{mark}data: {{"a": 1}}{end}{end}: none{end}{end}id: 7{end}data:{{{end}data: }}{end}{end}data: {{"c": 1}}'
    for at in range(0, len(text.encode()), size):
        assert not events.feed(text.encode()[at : at + size])
    events.end()

    assert (seen, events.count) == ([b'{"a": 1}', b"{\n}", b'{"c": 1}'], 3)


def test_a_blank_line_ends_an_event_however_each_line_ends() -> None:
    seen: list[bytes] = []
    events = Events(lambda data: (seen.append(data) is None, None))
    for end in ("\r\n\n", "\n\r\n", "\r\n\r", "\r\r\n", "\n\r"):
        assert events.feed(f"data: {{}}{end}".encode())

    assert seen == [b"{}"] * 5


# --- a question ------------------------------------------------------------------------------------------------------
def test_only_who_was_asked_something_answers_it(person: User, settings: Any) -> None:
    question = {"role": "agent", "parts": [{"text": "Which Zoe?"}], "messageId": "m"}
    results = [task("input-required"), task("completed"), task("completed"), task("completed")]
    results[0]["status"]["message"] = question
    with agent(with_card(in_turn(*results), Speech.A2A_1_0)) as running:
        configure(settings, url=running.url, protocol="a2a")
        caller, other = signed_in(consenting(person)), signed_in(consenting(PersonFactory()))
        for one in (caller, other, caller, caller):
            assert one.post("/api/a2a/brand", CALL).status_code == 200

    task_ids = [request.body["params"]["message"].get("taskId") for request in running.prompts]
    assert task_ids == [None, None, "t", None]
