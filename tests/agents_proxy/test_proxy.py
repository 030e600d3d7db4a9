"""Calls to agents: what reaches the upstream, what comes back, and every refusal of the contract's table."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import orjson
import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from psycopg_pool import PoolTimeout

from accounts.models import User
from agents_proxy.agents import AGENTS
from agents_proxy.errors import Refusal, TooManyCalls, every_refusal
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.calls import under_way
from agents_proxy.proxy.models import Call
from agents_proxy.states import Purpose
from common import limits
from tests.agents_proxy.proxy_calls import CALL, SITE, configure, consenting, refusal, site_client
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory
from tests.fakes.agents import CANARY, Agent, Speech, agent, answers, closed_port, result_of, with_card

BRAND = "/api/a2a/brand"


@pytest.fixture
def upstream(settings: Any) -> Iterator[Agent]:
    """A brand agent that knows an age."""
    with agent(answers()) as running:
        configure(settings, url=running.url, token="upstream-token-of-tests")
        yield running


@pytest.fixture
def caller(person: User) -> JsonClient:
    """`person`, signed in, having agreed to everything."""
    return signed_in(consenting(person))


def test_a_call_reaches_the_agent_in_the_specifications_envelope(caller: JsonClient, upstream: Agent) -> None:
    answer = caller.post(BRAND, CALL)

    (call,) = upstream.calls
    assert call.body == {
        "jsonrpc": "2.0",
        "id": "task-one",
        "method": "tasks/send",
        "params": {
            "sessionId": "session-42",
            "message": {"role": "user", "parts": [{"type": "text", "text": "Who is Zoe?"}]},
        },
    }
    assert call.headers["authorization"] == "Bearer upstream-token-of-tests"
    assert "cookie" not in call.headers
    assert answer.status_code == 200
    assert answer.json() == result_of(call)
    assert CANARY not in f"{answer.headers}{answer.content!r}"


@pytest.mark.parametrize("absent", [{}, {"sessionId": None, "id": None}])
def test_identifiers_are_made_up_where_they_are_absent(
    absent: dict[str, None], caller: JsonClient, upstream: Agent
) -> None:
    answer = caller.post(BRAND, {"text": "Who is Zoe?", **absent})

    sent = upstream.calls[0].body
    assert re.fullmatch(r"task-[A-Za-z0-9_-]{1,64}", sent["id"])
    assert re.fullmatch(r"session-[0-9]{1,20}", sent["params"]["sessionId"])
    assert answer.json()["id"] == sent["id"]


@pytest.mark.parametrize(
    ("speech", "params"),
    [
        (
            Speech.A2A_0_3,
            {
                "message": {
                    "kind": "message", "messageId": "task-one", "contextId": "session-42", "role": "user",
                    "parts": [{"kind": "text", "text": "Who is Zoe?"}],
                },
                "configuration": {"blocking": False},
            },
        ),
        (
            Speech.A2A_1_0,
            {
                "message": {
                    "messageId": "task-one", "contextId": "session-42", "role": "ROLE_USER",
                    "parts": [{"text": "Who is Zoe?"}],
                },
                "configuration": {"returnImmediately": True},
            },
        ),
    ],
)  # fmt: skip
def test_an_agent_may_speak_a_newer_protocol(
    speech: Speech, params: dict[str, Any], caller: JsonClient, settings: Any
) -> None:
    with agent(with_card(answers(), speech)) as running:
        configure(settings, url=running.url, protocol="a2a")
        assert caller.post(BRAND, CALL).status_code == 200

    [call] = running.prompts
    sent = call.body["params"]
    assert call.body["method"] == {Speech.A2A_0_3: "message/send", Speech.A2A_1_0: "SendMessage"}[speech]
    assert {sent["message"].pop(name) is not None for name in ("extensions", "metadata")} == {True}
    assert sent == params
    assert call.headers.get("a2a-version") == ("1.0" if speech is Speech.A2A_1_0 else None)


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "messaging"])
def test_every_agent_has_its_address(name: str, caller: JsonClient, settings: Any) -> None:
    with agent(answers()) as running:
        configure(settings, name, url=running.url)

        assert caller.post(f"/api/a2a/{name}", CALL).status_code == 200


def test_a_call_is_noted_without_what_was_said(caller: JsonClient, upstream: Agent, person: User) -> None:
    caller.post(BRAND, CALL)

    row = Call.objects.values().get()
    assert row["consent_id"] == person.processing_consents.get().pk
    assert row["bytes"] > 50
    kept = {name: row[name] for name in ("agent", "session_id", "task_id", "outcome")}
    assert kept == {"agent": "brand", "session_id": "session-42", "task_id": "task-one", "outcome": "answered"}
    assert not any("Zoe" in str(value) or "age" in str(value) for value in row.values())


BAD_BODIES = {
    "not json": b"{", "blank": b" ", "two keys": b'{"text": "a", "text": "b"}', "nan": b'{"text": NaN}',
    "nul": b'{"text": "a\\u0000"}', "surrogate": b'{"text": "\\ud800"}', "deep": b'{"text":' * 40 + b"1" + b"}" * 40,
    "not utf-8": b'{"text": "\xff"}', "infinite": b'{"text": 1e999}',
}  # fmt: skip
BAD_PARAMS: dict[str, Any] = {
    "no text": {}, "number": {"text": 1}, "blank": {"text": " \n"}, "empty": {"text": ""}, "list": [],
    "long": {"text": "a" * 20_001}, "extra": {"text": "a", "role": "system"}, "null": {"text": None},
    "session": {"text": "a", "sessionId": "session-a"},
    "long session": {"text": "a", "sessionId": "session-" + "1" * 21},
    "session line": {"text": "a", "sessionId": "session-1\n"}, "task": {"text": "a", "id": "one"},
    "task number": {"text": "a", "id": 1}, "long task": {"text": "a", "id": "task-" + "a" * 65},
}  # fmt: skip


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_invalid_json(body: bytes, caller: JsonClient, upstream: Agent) -> None:
    assert refusal(caller.send("POST", BRAND, body)) == (400, -32700, "invalid_json")
    assert upstream.calls == []


@pytest.mark.parametrize("body", BAD_PARAMS.values(), ids=BAD_PARAMS)
def test_invalid_params(body: Any, caller: JsonClient, upstream: Agent) -> None:
    answer = caller.send("POST", BRAND, orjson.dumps(body))

    assert refusal(answer) == (400, -32602, "invalid_params")
    assert answer.json()["error"]["data"]["errors"]
    assert upstream.calls == []


@pytest.mark.parametrize(
    ("body", "id"),
    [
        ({"text": " ", "id": "task-one"}, "task-one"),
        ({"id": "task-one"}, "task-one"),
        ({"text": "a", "id": "one"}, None),
        ({"text": " ", "id": "task-one\n"}, None),
        ({"text": " ", "id": ["task-one"]}, None),
        (["task-one"], None),
    ],
)
def test_a_refused_body_is_answered_under_its_id(body: Any, id: str | None, caller: JsonClient) -> None:
    answer = caller.send("POST", BRAND, orjson.dumps(body))

    assert refusal(answer) == (400, -32602, "invalid_params")
    assert answer.json()["id"] == id


def test_a_refused_member_is_explained_in_our_words(caller: JsonClient) -> None:
    answer = caller.post(BRAND, {"text": " "})

    assert answer.json()["error"]["data"]["errors"] == [
        {"field": "text", "code": "value_error", "message": "must not be blank"}
    ]


def test_a_query_is_refused_and_a_developer_token_with_it(caller: JsonClient, upstream: Agent) -> None:
    answer = caller.post(f"{BRAND}?token=cr_live_12345678_abc", CALL)

    assert refusal(answer) == (400, -32602, "invalid_params")
    assert upstream.calls == []


@pytest.mark.parametrize("text", ["a" * 20_000, "\U0001f600" * 20_000, "line\nline\ttab"])
def test_text_up_to_its_length_in_code_points_passes(text: str, caller: JsonClient, upstream: Agent) -> None:
    assert caller.post(BRAND, {"text": text}).status_code == 200
    assert upstream.calls[0].body["params"]["message"]["parts"][0]["text"] == text


def test_consent_required_of_a_stranger(db: None, upstream: Agent) -> None:
    answer = JsonClient(Client()).post(BRAND, CALL)

    assert refusal(answer) == (403, -32050, "consent_required")
    assert answer.json()["error"]["data"]["consent_url"] == (
        "http://localhost:8000/profile/consent/?purposes=brand_affinity"
    )
    assert upstream.calls == []


def test_consent_required_for_another_purpose(person: User, upstream: Agent) -> None:
    consents.give(by=person, purposes=[Purpose.PROFILE, Purpose.ENRICHMENT])

    assert refusal(signed_in(person).post(BRAND, CALL)) == (403, -32050, "consent_required")
    assert upstream.calls == []


def test_a_session_without_its_csrf_token(person: User, upstream: Agent) -> None:
    caller = signed_in(consenting(person), enforce_csrf=True)

    assert refusal(caller.post(BRAND, CALL)) == (403, -32051, "csrf_failed")
    caller.client.get("/accounts/login/")
    token = caller.client.get("/profile/consent/given/").context["csrf_token"]
    assert caller.post(BRAND, CALL, headers={"X-CSRFToken": str(token)}).status_code == 200
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://shop.example", f"{SITE}:444", "", "a b"])
def test_an_origin_that_nobody_registered(origin: str, upstream: Agent, caller: JsonClient) -> None:
    AppFactory(origins=[SITE])

    answer = caller.post(BRAND, CALL, headers={"Origin": origin})

    assert refusal(answer) == (403, -32051, "origin_refused")
    assert "Access-Control-Allow-Origin" not in answer
    assert upstream.calls == []


def test_our_own_page_under_its_referrer_policy(caller: JsonClient, upstream: Agent) -> None:
    own = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}

    assert caller.post(BRAND, CALL, headers=own).status_code == 200
    assert caller.post(BRAND, CALL, headers={"Origin": "http://testserver"}).status_code == 200


@pytest.mark.parametrize("path", ["nobody", "brand/", "Brand", "core/profile", "analyses/a/b/c/d", "%00"])
def test_unknown_agent(path: str, caller: JsonClient) -> None:
    assert refusal(caller.post(f"/api/a2a/{path}", CALL)) == (404, -32601, "unknown_agent")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_method_not_allowed(method: str, caller: JsonClient) -> None:
    answer = caller.send(method, BRAND)

    assert refusal(answer) == (405, -32600, "method_not_allowed")
    assert answer["Allow"] == "POST"


def test_payload_too_large(caller: JsonClient, upstream: Agent) -> None:
    answer = caller.send("POST", BRAND, b'{"text": "' + b"a" * 2**18 + b'"}')

    assert refusal(answer) == (413, -32600, "payload_too_large")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]
)
def test_unsupported_media_type(kind: str, caller: JsonClient, upstream: Agent) -> None:
    answer = caller.send("POST", BRAND, orjson.dumps(CALL), media_type=kind)

    assert refusal(answer) == (415, -32600, "unsupported_media_type")


def test_too_many_calls_of_a_session(caller: JsonClient, upstream: Agent, settings: Any) -> None:
    settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND = 2, 0.01

    statuses = [caller.post(BRAND, CALL).status_code for _ in range(3)]
    answer = caller.post(BRAND, CALL)

    assert statuses == [200, 200, 429]
    assert refusal(answer) == (429, -32052, "too_many_requests")
    assert int(answer["Retry-After"]) in range(90, 101)
    assert len(upstream.calls) == 2


def test_too_many_calls_of_an_address(person: User, upstream: Agent, settings: Any) -> None:
    settings.A2A_ADDRESS_BURST, settings.A2A_ADDRESS_PER_SECOND = 1, 0.01

    assert signed_in(consenting(person)).post(BRAND, CALL).status_code == 200
    assert refusal(site_client().post(BRAND, CALL)) == (429, -32052, "too_many_requests")


def test_every_answer_says_how_many_calls_are_left(caller: JsonClient, upstream: Agent, settings: Any) -> None:
    settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND = 2, 0.01
    settings.A2A_ADDRESS_BURST, settings.A2A_ADDRESS_PER_SECOND = 5, 0.01

    counted = [caller.post(BRAND, CALL), caller.post(BRAND, {}), caller.post(BRAND, CALL)]
    stranger = site_client().post(BRAND, CALL, headers={"A2A-Consent": "unknown"})

    assert [answer.status_code for answer in (*counted, stranger)] == [200, 400, 429, 403]
    for answer, session, address in zip(counted, (1, 0, 0), (4, 3, 2), strict=True):
        assert answer["RateLimit-Policy"] == '"calls-per-address";q=5;w=500, "calls-per-session";q=2;w=200'
        of_address, of_session = answer["RateLimit"].split(", ")
        assert of_address.startswith(f'"calls-per-address";r={address};t=')
        assert of_session.startswith(f'"calls-per-session";r={session};t=')
    assert stranger["RateLimit-Policy"] == '"calls-per-address";q=5;w=500'
    assert stranger["RateLimit"].startswith('"calls-per-address";r=2;t=')


def test_limits_of_zero_are_off(caller: JsonClient, upstream: Agent, settings: Any) -> None:
    settings.A2A_ADDRESS_BURST = settings.A2A_SESSION_PER_SECOND = 0

    assert [caller.post(BRAND, CALL).status_code for _ in range(3)] == [200, 200, 200]
    assert limits._paces == {}


def test_a_full_process_admits_no_more(caller: JsonClient, upstream: Agent, settings: Any) -> None:
    settings.A2A_CALLS_IN_FLIGHT = 1
    with under_way.admit("core", 1):
        answer = caller.post(BRAND, CALL)

    assert refusal(answer) == (429, -32052, "too_many_requests")
    assert answer["Retry-After"]
    assert caller.post(BRAND, CALL).status_code == 200


def test_one_agent_leaves_others_a_tenth_of_the_places(caller: JsonClient, upstream: Agent, settings: Any) -> None:
    settings.A2A_CALLS_IN_FLIGHT = 20
    with ExitStack() as calls:
        for _ in range(18):
            calls.enter_context(under_way.admit("core", 20))
        with pytest.raises(TooManyCalls), under_way.admit("core", 20):
            pass
        assert caller.post(BRAND, CALL).status_code == 200
        for _ in range(2):
            calls.enter_context(under_way.admit("brand", 20))
        assert refusal(caller.post(BRAND, CALL)) == (429, -32052, "too_many_requests")
        assert under_way.count == 20
    assert under_way.count == 0


def test_agent_not_configured(caller: JsonClient, settings: Any) -> None:
    configure(settings, "core")

    assert refusal(caller.post(BRAND, CALL)) == (503, -32054, "agent_not_configured")


@pytest.mark.parametrize("away", [OperationalError("x"), InterfaceError("x"), PoolTimeout("x")], ids=repr)
@pytest.mark.parametrize("where", ["app_of_origin", "consents.of_token"])
def test_without_its_database_the_proxy_refuses_in_its_own_shape(
    where: str, away: Exception, db: None, upstream: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise away

    site = site_client()
    monkeypatch.setattr(f"agents_proxy.proxy.callers.{where}", fails)
    answer = site.post(BRAND, CALL)

    assert refusal(answer) == (503, -32059, "temporarily_unavailable")
    assert answer["Retry-After"] == "5"
    assert answer.get("Access-Control-Allow-Origin") == (None if where == "app_of_origin" else SITE)
    assert upstream.calls == []


def test_refusals_come_in_the_contracts_order(db: None, settings: Any) -> None:
    """Each call fails everything that comes later too; the first that applies answers."""
    AppFactory(origins=[SITE])
    stranger = JsonClient(Client())
    bad = {"media_type": "text/plain", "headers": {"Origin": "https://evil.example"}}

    assert refusal(stranger.send("GET", "/api/a2a/nobody", **bad))[2] == "unknown_agent"
    assert refusal(stranger.send("GET", BRAND, **bad))[2] == "method_not_allowed"
    assert refusal(stranger.send("POST", BRAND, **bad))[2] == "origin_refused"
    assert refusal(stranger.send("POST", BRAND, media_type="text/plain"))[2] == "consent_required"
    caller = site_client()
    assert refusal(caller.send("POST", BRAND, b"a" * 2**19, media_type="text/plain"))[2] == "unsupported_media_type"
    settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND = 1, 0.01
    assert refusal(caller.send("POST", BRAND, b"a" * 2**19))[2] == "payload_too_large"
    assert refusal(caller.send("POST", BRAND, b"a"))[2] == "invalid_json"
    assert refusal(caller.send("POST", BRAND, b"a"))[2] == "too_many_requests"


def test_a_refusal_names_the_call_and_its_trace(caller: JsonClient, settings: Any) -> None:
    configure(settings, url=closed_port())

    answer = caller.post(BRAND, CALL, headers={"X-Request-Id": "trace-of-tests"})

    assert answer.json() == {
        "jsonrpc": "2.0",
        "id": "task-one",
        "error": {
            "code": -32053,
            "message": "The agent cannot be reached.",
            "data": {"code": "upstream_unavailable", "trace_id": "trace-of-tests"},
        },
    }
    assert answer["X-Request-Id"] == "trace-of-tests"
    assert answer["Cache-Control"] == "no-store"


def test_every_refusal_is_in_the_documentation() -> None:
    from pathlib import Path

    page = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text()
    rows = set(re.findall(r"^\| (\d+) \| (-\d+) \| `(\w+)` \|", page, re.MULTILINE))

    wanted: list[type[Refusal]] = list(every_refusal())
    assert rows == {(str(kind.status), str(kind.code), kind.name) for kind in wanted}
