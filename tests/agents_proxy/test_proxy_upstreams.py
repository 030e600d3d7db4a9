"""Upstreams that misbehave: the documented answer each time, in time, with nothing of theirs told and nothing kept."""

import contextlib
import gc
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from accounts.models import User
from agents_proxy.agents import Protocol, Upstream
from agents_proxy.analyses.results import reading_of
from agents_proxy.errors import InvalidAgentResponse, UpstreamTimeout
from agents_proxy.proxy import upstream
from agents_proxy.proxy.envelope import Prompt
from agents_proxy.proxy.models import Call
from tests.agents_proxy.hostile import SHAPELESS, as_result, hostile_replies
from tests.agents_proxy.proxy_calls import CALL, configure, consenting, refusal
from tests.callers import JsonClient, signed_in
from tests.fakes import agents as fake
from tests.fakes.agents import CANARY, Speech, agent, answers_with, result_of, with_card
from tests.patience import MOST_SECONDS

BRAND = "/api/a2a/brand"
OURS = [
    tracemalloc.Filter(True, f"*/{part}")
    for part in ("agents_proxy/*.py", "common/*.py", "urllib3/*", "http/client.py")
]
INVALID = (502, -32006, "invalid_agent_response")
UNAVAILABLE = (502, -32053, "upstream_unavailable")
REFUSED = (502, -32057, "agent_refused_us")
BUSY = (429, -32052, "too_many_requests")
TIMEOUT = (504, -32055, "upstream_timeout")
BEHAVIOURS: dict[str, tuple[fake.Behaviour, tuple[int, int, str]]] = {
    "hangs": (fake.hangs, TIMEOUT),
    "drips its body": (fake.drips, TIMEOUT),
    "drips headers": (fake.drips_headers, TIMEOUT),
    "drips informational answers": (fake.drips_informational, TIMEOUT),
    "resets": (fake.resets, UNAVAILABLE),
    "closes without an answer": (fake.sends(b""), UNAVAILABLE),
    "cuts off": (fake.cuts_off, UNAVAILABLE),
    "is no HTTP": (fake.sends(b"SSH-2.0-canary\r\n"), INVALID),
    "redirects": (answers_with(result_of, status="302 Found", location="https://canary.example/"), INVALID),
    "redirects for good": (answers_with(result_of, status="308 Permanent Redirect", location="/elsewhere"), INVALID),
    "answers 10 MB": (fake.floods(10), INVALID),
    "answers 10 MB in chunks": (fake.floods(10, chunked=True), INVALID),
    "answers HTML": (answers_with(lambda _: b"<html>canary-of-the-upstream</html>", content_type="text/html"), INVALID),
    "answers nothing": (answers_with(lambda _: b""), INVALID),
    "answers another id": (answers_with(lambda call: {**result_of(call), "id": "task-two"}), INVALID),
    "answers no id": (answers_with(lambda _: {"jsonrpc": "2.0", "result": {}}), INVALID),
    "answers a list": (answers_with(lambda call: [result_of(call)]), INVALID),
    "answers an old version": (answers_with(lambda call: {**result_of(call), "jsonrpc": "1.0"}), INVALID),
    "answers neither": (answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"]}), INVALID),
    "answers both": (answers_with(lambda call: {**result_of(call), "error": {"code": 1, "message": ""}}), INVALID),
    "answers NaN": (answers_with(lambda call: {**result_of(call), "result": float("nan")}), INVALID),
    "answers two of a key": (
        answers_with(lambda _: b'{"jsonrpc": "2.0", "id": "task-one", "result": 1, "result": 2}'),
        INVALID,
    ),
    "answers too deep": (answers_with(lambda _: b'{"jsonrpc":' + b"[" * 100_000), INVALID),
    "answers a result that is too deep": (
        answers_with(lambda _: b'{"jsonrpc":"2.0","id":"task-one","result":%b%b}' % (b"[" * 100_000, b"]" * 100_000)),
        INVALID,
    ),
    "answers compressed": (answers_with(lambda _: b"\x1f\x8b\x08\x00", content_encoding="gzip"), INVALID),
    "errs without a code": (
        answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"], "error": CANARY}),
        INVALID,
    ),
    "fails in HTML": (answers_with(lambda _: b"<h1>canary</h1>", status="500 Internal Server Error"), UNAVAILABLE),
    "is not there": (answers_with(lambda _: {"detail": CANARY}, status="404 Not Found"), UNAVAILABLE),
    "wants a password": (answers_with(lambda _: b"", status="401 Unauthorized", www_authenticate="Basic"), REFUSED),
    "forbids": (answers_with(result_of, status="403 Forbidden"), REFUSED),
    "is busy": (answers_with(lambda _: b"", status="429 Too Many Requests", retry_after="17"), BUSY),
}


@pytest.fixture
def caller(person: User) -> JsonClient:
    """`person`, signed in, having agreed to everything."""
    return signed_in(consenting(person))


@pytest.mark.parametrize("speech", list(Speech))
@pytest.mark.parametrize(("behaviour", "expected"), BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_a_misbehaving_upstream(
    behaviour: fake.Behaviour,
    expected: tuple[int, int, str],
    speech: Speech,
    caller: JsonClient,
    settings: Any,
) -> None:
    with agent(with_card(behaviour, speech)) as running:
        timeout = 1.5 if expected == TIMEOUT else 20  # whoever goes on for ever would do so for half a minute
        options = {"url": running.url, "token": "upstream-token-of-tests", "timeout": timeout}
        configure(settings, **options, protocol=speech.protocol)
        answer = caller.post(BRAND, CALL)

    assert refusal(answer) == expected
    assert len(running.prompts) == 1
    text = f"{answer.headers}{answer.content!r}".lower()
    assert not any(secret in text for secret in ("canary", "upstream-token", "127.0.0.1", "traceback"))
    assert Call.objects.get().outcome == ("agent_busy" if expected == BUSY else expected[2])


@pytest.mark.parametrize(
    ("retry_after", "passed_on"),
    [
        ("17", "17"), ("0", "0"), ("", "5"), ("soon", "5"), ("-3", "5"), ("999999999", "86400"),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "0"), ("Fri, 31 Dec 9999 23:59:59 GMT", "86400"),
    ],
)  # fmt: skip
def test_how_long_a_busy_agent_wants_to_be_left_alone(
    retry_after: str, passed_on: str, caller: JsonClient, settings: Any
) -> None:
    with agent(answers_with(lambda _: b"", status="429 Too Many Requests", retry_after=retry_after)) as running:
        configure(settings, url=running.url)
        answer = caller.post(BRAND, CALL)

    assert (answer.status_code, answer["Retry-After"]) == (429, passed_on)


def test_nobody_listens(caller: JsonClient, settings: Any) -> None:
    configure(settings, url=fake.closed_port())

    assert refusal(caller.post(BRAND, CALL)) == UNAVAILABLE


def test_a_name_that_does_not_resolve(caller: JsonClient, settings: Any) -> None:
    configure(settings, url="http://nobody.invalid/")

    assert refusal(caller.post(BRAND, CALL)) == UNAVAILABLE


def test_a_certificate_that_nobody_trusts(caller: JsonClient, settings: Any, tmp_path: Path) -> None:
    with agent(fake.answers(), certificate=fake.self_signed(tmp_path)) as running:
        configure(settings, url=running.url)

        assert refusal(caller.post(BRAND, CALL)) == UNAVAILABLE
    assert running.calls == []


def test_tls_to_what_speaks_none(caller: JsonClient, settings: Any) -> None:
    with agent(fake.answers()) as running:
        configure(settings, url=running.url.replace("http:", "https:"), timeout=1.0)
        answer = caller.post(BRAND, CALL)

    assert refusal(answer) in (UNAVAILABLE, TIMEOUT)


@pytest.mark.parametrize("speech", list(Speech))
def test_an_error_of_the_agent_keeps_its_code_and_loses_its_words(
    speech: Speech, caller: JsonClient, settings: Any
) -> None:
    error = {"code": -32001, "message": CANARY, "data": {"stack": CANARY}}
    errs = answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"], "error": error})
    with agent(with_card(errs, speech)) as running:
        configure(settings, url=running.url, protocol=speech.protocol)
        answer = caller.post(BRAND, CALL)

    expected = {"code": -32001, "message": "The agent reported an error."}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": "task-one", "error": expected})
    assert Call.objects.get().outcome == "agent_error"


def test_a_failing_status_with_an_answer_of_its_own_counts_as_the_answer(caller: JsonClient, settings: Any) -> None:
    with agent(answers_with(result_of, status="500 Internal Server Error")) as running:
        configure(settings, url=running.url)
        answer = caller.post(BRAND, CALL)

    assert answer.status_code == 200
    assert answer.json()["result"]["status"]["state"] == "completed"


def test_replies_that_mean_harm_read_the_same_in_every_protocol() -> None:
    for text in hostile_replies(64):
        plain, *others = [reading_of({"result": as_result(speech, text)}) for speech in Speech]
        assert others == [plain, plain]


@pytest.mark.parametrize("speech", list(Speech))
def test_replies_that_mean_harm_pass_as_the_json_that_they_are(
    speech: Speech, caller: JsonClient, settings: Any
) -> None:
    for text in hostile_replies(8):
        result = as_result(speech, text)
        answers = answers_with(lambda call, result=result: {**result_of(call), "result": result})
        with agent(with_card(answers, speech)) as running:
            configure(settings, url=running.url, protocol=speech.protocol)
            answer = caller.post(BRAND, CALL)

        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
        assert answer["X-Content-Type-Options"] == "nosniff"
        [part] = answer.json()["result"]["status"]["message"]["parts"]
        assert (part["type"], part["text"]) == ("text", text)
        assert CANARY not in str(answer.headers)


@pytest.mark.parametrize("result", SHAPELESS)
def test_a_result_of_no_shape_says_nothing_to_an_analysis(result: Any) -> None:
    is_text = result in ("task", {"parts": "text"})

    assert reading_of({"result": result}).error_code == ("not_json" if is_text else "no_text")


def test_members_beside_the_result_stay_here(caller: JsonClient, settings: Any) -> None:
    big = {"n": 2**70, "text": "ü"}
    with agent(answers_with(lambda call: {**result_of(call), "result": big, "x-internal": CANARY})) as running:
        configure(settings, url=running.url)
        answer = caller.post(BRAND, CALL)

    assert answer.json() == {"jsonrpc": "2.0", "id": "task-one", "result": big}


def test_a_result_is_passed_on_as_it_is(caller: JsonClient, settings: Any) -> None:
    body = b'{"jsonrpc":"2.0","id":"task-one","result":{"a": 1.10, "b":"\\u00fc", "a2": [1E2]}}'
    with agent(answers_with(lambda _: body)) as running:
        configure(settings, url=running.url)

        assert caller.post(BRAND, CALL).content == body


def test_a_kept_connection_that_went_away_meanwhile_costs_nothing(caller: JsonClient, settings: Any) -> None:
    with agent(fake.answers()) as running:
        configure(settings, url=running.url)
        assert [caller.post(BRAND, CALL).status_code for _ in range(3)] == [200, 200, 200]
        assert running.connections == 1

    assert refusal(caller.post(BRAND, CALL)) == UNAVAILABLE


def test_whoever_answers_once_per_connection_is_asked_each_time_once(caller: JsonClient, settings: Any) -> None:
    closed = threading.Semaphore(0)

    def behave(socket_: Any, call: fake.Call, running: fake.Agent) -> None:
        fake.answers()(socket_, call, running)
        socket_.shutdown(2)
        closed.release()

    with agent(behave) as running:
        configure(settings, url=running.url)
        statuses = []
        for _ in range(3):
            statuses.append(caller.post(BRAND, CALL).status_code)
            assert closed.acquire(timeout=MOST_SECONDS)

    assert statuses == [200, 200, 200]
    assert len(running.calls) == 3


@pytest.mark.django_db(transaction=True)  # the connection is closed
def test_no_database_connection_is_held_while_the_agent_thinks(person: User, settings: Any) -> None:
    caller, connected = signed_in(consenting(person)), []

    def behave(socket_: Any, call: fake.Call, running: fake.Agent) -> None:
        connected.append(ours.connection is not None)
        fake.answers()(socket_, call, running)

    ours = connections["default"]  # of this thread, which is the one that calls
    with agent(behave) as running:
        configure(settings, url=running.url)

        assert caller.post(BRAND, CALL).status_code == 200
    assert connected == [False]


def test_memory_stays_flat_and_no_thread_is_lost() -> None:
    """Fifty calls to upstreams that flood, hang and cut off leave nothing behind."""
    prompt = Prompt("Who?", "session-1", "task-one")

    def call(running: fake.Agent) -> None:
        with contextlib.suppress(UpstreamTimeout, InvalidAgentResponse):
            upstream.call(Upstream(running.url, "", 0.05, Protocol.TASKS_SEND), prompt)

    with agent(fake.floods(10, chunked=True)) as flood, agent(fake.hangs) as hang:
        for _ in range(3):
            call(flood)
            call(hang)
        gc.collect()
        threads = {thread.name for thread in threading.enumerate() if "process_request" not in thread.name}
        tracemalloc.start()
        for _ in range(25):
            call(flood)
            call(hang)
        peak = tracemalloc.get_traced_memory()[1]
        hang.released.set()
        gc.collect()
        kept = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(OURS).traces)
        tracemalloc.stop()
        left = {thread.name for thread in threading.enumerate() if "process_request" not in thread.name}

    assert left <= threads
    assert kept < 50_000  # of 250 MiB that were sent
    assert peak < 8 * 2**20
