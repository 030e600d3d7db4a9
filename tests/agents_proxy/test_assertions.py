"""What agents are shown of a consent, and the names under which they know a call."""

import base64
import hashlib
import json
import time
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from joserfc import jws
from joserfc.jwk import KeySet

from accounts.models import User
from agents_proxy.messaging.models import OutboundMessage
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.assertions import HEADER
from agents_proxy.signing import origin_of
from consent.ledger import receipts
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import ADDRESS, OTHER, TO, verified
from tests.agents_proxy.phone_owners import CALL as MESSAGE
from tests.agents_proxy.proxy_calls import CALL, SITE, configure, consenting, owning
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory
from tests.fakes.agents import Agent, Call, Speech, agent, answers, answers_with, result_of, with_card

BRAND = "/api/a2a/brand"
KEYS = "/.well-known/consent-assertion-keys.json"
NUMBER = "+351912345678"


def claims_of(assertion: str) -> dict[str, Any]:
    """As an agent checks it: with the published keys."""
    keys = KeySet.import_key_set(JsonClient(Client()).get(KEYS).json())
    checked = jws.deserialize_compact(assertion, keys, algorithms=["EdDSA"])
    assert checked.headers()["typ"] == "processing-consent+jwt"
    claims: dict[str, Any] = json.loads(checked.payload)
    return claims


def test_a_call_is_shown_who_agreed_to_what_about_whom(person: User, settings: LazySettings) -> None:
    text = "What does ana@example.org like?"
    with agent(answers()) as running:
        configure(settings, url=running.url)
        caller = signed_in(consenting(owning(person, NUMBER)))
        for _ in range(2):
            assert caller.post(BRAND, {**CALL, "text": text}).status_code == 200

    first, second = (claims_of(call.headers[HEADER.lower()]) for call in running.calls)
    claims = {name: value for name, value in first.items() if name not in ("sub", "jti", "iat", "exp")}
    assert claims == {
        "iss": "http://localhost:8000", "aud": origin_of(running.url), "purposes": ["brand_affinity"],
        "subject": {"emails": ["ana@example.org"], "phone_numbers": []},
        "consent_id": ProcessingConsent.objects.get().consent_id, "task": "task-one",
        "text_sha256": base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("="),
    }  # fmt: skip
    assert first["exp"] - first["iat"] == 300
    assert abs(first["iat"] - time.time()) < 60
    assert (first["jti"] != second["jti"], first["sub"] == second["sub"]) == (True, True)
    assert str(person.public_id) not in first["sub"]
    assert set(running.calls[0].body) == {"jsonrpc", "id", "method", "params"}
    assert set(running.calls[0].body["params"]["message"]) == {"role", "parts"}


@pytest.mark.parametrize(
    ("speech", "header"), [(Speech.A2A_0_3, "x-a2a-extensions"), (Speech.A2A_1_0, "a2a-extensions")]
)
def test_a2a_has_an_extension_for_it(speech: Speech, header: str, person: User, settings: LazySettings) -> None:
    with agent(with_card(answers(), speech)) as running:
        configure(settings, url=running.url, protocol="a2a")
        signed_in(consenting(person)).post(BRAND, CALL)

    [call] = running.prompts
    extension, message = "http://localhost:8000/extensions/consent/v1", call.body["params"]["message"]
    assert (call.headers[header], message["extensions"]) == (extension, [extension])
    assert claims_of(message["metadata"][extension])["task"] == "task-one"
    assert HEADER.lower() not in call.headers


def test_whoever_it_is_about_is_as_few_as_the_call_needs(person: User, carrier: Agents, settings: LazySettings) -> None:
    subjects = []
    with agent(answers()) as running:
        configure(settings, "core", url=running.url)
        caller = signed_in(consenting(owning(person, NUMBER)))
        for text in ("Who am I?", NUMBER, f"{NUMBER} or ana@example.org"):
            caller.post("/api/a2a/core", {"text": text})
        subjects = [claims_of(call.headers[HEADER.lower()])["subject"] for call in running.calls]

    assert subjects == [
        {"emails": ["ana@example.org"], "phone_numbers": []},
        {"emails": [], "phone_numbers": [NUMBER]},
        {"emails": ["ana@example.org"], "phone_numbers": [NUMBER]},
    ]


def test_messages_and_analyses_are_shown_it_too(person: User, settings: LazySettings) -> None:
    with agent(answers()) as running:
        nowhere = {"url": running.url, "token": "", "timeout": 30.0, "protocol": "tasks-send"}
        settings.AGENTS = dict.fromkeys(settings.AGENTS, nowhere)
        signed_in(verified(person)).post(ADDRESS, MESSAGE)
        finished(person)

    message, *steps = [claims_of(call.headers[HEADER.lower()]) for call in running.calls]
    assert (message["subject"], message["purposes"]) == ({"emails": [], "phone_numbers": [TO]}, ["messaging"])
    assert [claims["purposes"] for claims in steps] == [
        ["brand_affinity"], ["profile"], ["enrichment"], ["enrichment"],
    ]  # fmt: skip
    assert all(claims["subject"]["emails"] == ["ana@example.org"] for claims in steps)


def test_the_keys_are_no_others_and_follow_the_servers(
    client_json: JsonClient, settings: LazySettings, db: None
) -> None:
    before = client_json.get(KEYS).json()["keys"]
    settings.DATA_ENCRYPTION_KEYS = ["another-key-of-tests", *settings.DATA_ENCRYPTION_KEYS]
    after = client_json.get(KEYS).json()["keys"]

    assert all("d" not in key for key in after)
    assert (len(before), after[1:]) == (1, before)
    assert not {key["x"] for key in after} & {key["x"] for key in receipts.public_keys()["keys"]}


def test_without_consent_there_is_nothing_to_show(db: None, settings: LazySettings) -> None:
    settings.A2A_REQUIRE_CONSENT = False
    with agent(answers()) as running:
        configure(settings, url=running.url)
        JsonClient(Client()).post(BRAND, CALL)

    assert HEADER.lower() not in running.calls[0].headers


def echoes(call: Call) -> dict[str, Any]:
    """An agent that says by which names it knows the call."""
    result = result_of(call)
    named = {"id": call.body["id"], "sessionId": call.body["params"]["sessionId"]}
    return {**result, "result": {**named, **result["result"]}}


def ids(running: Agent) -> list[tuple[str, str]]:
    return [(call.body["id"], call.body["params"]["sessionId"]) for call in running.calls]


def test_a_name_that_somebody_else_used_first_is_another_upstream(person: User, settings: LazySettings) -> None:
    zoe = consenting(PersonFactory())
    with agent(answers_with(echoes)) as running:
        configure(settings, url=running.url)
        callers = [signed_in(consenting(person)), signed_in(zoe), signed_in(zoe), signed_in(person)]
        bodies = [caller.post(BRAND, CALL).json() for caller in callers]

    for answer in bodies:
        assert (answer["id"], answer["result"]["id"], answer["result"]["sessionId"]) == (
            "task-one", "task-one", "session-42",
        )  # fmt: skip
    mine, hers, again, still_mine = ids(running)
    assert mine == still_mine == ("task-one", "session-42")
    assert hers == again
    assert not {*hers} & {*mine}
    assert claims_of(running.calls[1].headers[HEADER.lower()])["task"] == hers[0]


def test_a_site_meets_nobody_in_a_session_of_the_person(person: User, settings: LazySettings) -> None:
    site = backend(token_of(owning(person), AppFactory(origins=[SITE]), purposes=["brand_affinity"]))
    with agent(answers_with(echoes)) as running:
        configure(settings, url=running.url)
        signed_in(consenting(person)).post(BRAND, CALL)
        assert site.post(BRAND, CALL).json()["result"]["sessionId"] == "session-42"

    assert len(set(ids(running))) == 2


def test_an_error_and_a_failed_task_come_back_under_the_callers_name(person: User, settings: LazySettings) -> None:
    signed_in(consenting(person))
    error = {"error": {"code": -32000, "message": "x"}}
    with agent(answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"], **error})) as running:
        configure(settings, url=running.url)
        bodies = [signed_in(one).post(BRAND, CALL).json() for one in (person, consenting(PersonFactory()))]

    assert [answer["id"] for answer in bodies] == ["task-one", "task-one"]
    assert len(set(ids(running))) == 2


def test_a_report_finds_a_message_by_the_name_that_the_agent_knows(carrier: Agents, person: User) -> None:
    from agents_proxy.messaging.actions import take_report

    signed_in(verified(person)).post(ADDRESS, MESSAGE)
    signed_in(verified(PersonFactory(), OTHER)).post(ADDRESS, {**MESSAGE, "to": OTHER})
    known = [request["id"] for _, request in carrier.requests]
    assert len(set(known)) == 2

    take_report(word="delivered", upstream_id=None, task_id=known[1], number=OTHER)
    states = OutboundMessage.objects.order_by("pk").values_list("status", flat=True)
    assert list(states) == ["sent", "delivered"]
