"""The client against a real HTTP server: what it sends and what it believes."""

import hashlib
import json
import math

import pytest

from consent_bridge.client import Client
from consent_bridge.errors import BadAnswer, KeyRefused, Problem, Refused, Unreachable, WaitTimeout
from consent_bridge.results import Discovery, Grant, MadeRequest, Status, as_json, build
from consent_bridge.sealed import (
    public_half,
    request_digest,
    thumbprint,
)
from consent_bridge.signatures import sha256
from tests.bridge.fake_service import DROP, Reply, problem
from tests.bridge.refusals import refused_for
from tests.bridge.wire import (
    APPROVED,
    DIGEST,
    DISCOVERY,
    ENTRY,
    FROZEN,
    GRANT,
    KEY,
    MADE_REQUEST,
    PENDING,
    PURPOSE,
    SCOPE,
    TOKEN,
    request_answer,
)


def test_discovery_is_a_record_with_the_wires_names(fake, client):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply(DISCOVERY))

    found = client.discover("usr_a")

    assert json.loads(json.dumps(as_json(found))) == DISCOVERY
    assert found == build(Discovery, DISCOVERY)
    [call] = fake.received
    assert call.headers["authorization"] == f"Bearer {TOKEN}"
    assert "token" not in call.query
    assert {"origin", "cookie", "sec-fetch-site"}.isdisjoint(call.headers)


def test_a_hint_of_ones_own_caller_leaves_as_a_hash(fake, client):
    fake.on("GET", "/api/v1/user-scopes/usr_a", Reply(DISCOVERY))
    fake.on("POST", "/api/v1/request-consent", Reply(MADE_REQUEST, 201))

    client.discover("usr_a", client_hint="Zoë at the form")
    client.request_consent("usr_a", SCOPE, purpose=PURPOSE, key=KEY, client_hint="Zoë at the form")
    client.discover("usr_a")

    hint = hashlib.sha256("Zoë at the form".encode()).hexdigest()
    assert [call.headers.get("x-client-hint") for call in fake.received] == [hint, hint, None]


def test_user_id_stays_one_part_of_the_path(fake, client):
    with pytest.raises(Problem):
        client.discover("../scope-catalog?x=1")

    assert fake.received[0].path == "/api/v1/user-scopes/..%2Fscope-catalog%3Fx%3D1"


def test_catalog_is_every_scope(fake, client):
    fake.on("GET", "/api/v1/scope-catalog", Reply({"scope_entries": [ENTRY]}))

    assert [as_json(entry) | {"attributes": list(entry.attributes)} for entry in client.catalog()] == [ENTRY]


def test_request_sends_the_public_half_and_only_what_was_given(fake, client):
    terms = {"access_duration": 3600, "required_attributes": ["lifestyle.food.favorite_cuisine"]}
    answer = request_answer(purpose="Suggest restaurants", **terms)
    fake.on("POST", "/api/v1/request-consent", Reply(answer, 201))

    made_request = client.request_consent(
        "usr_a",
        SCOPE,
        purpose="Suggest restaurants",
        key=KEY,
        access_duration=3600,
        max_reads=None,
        required_attributes=["lifestyle.food.favorite_cuisine"],
        idempotency_key="order-7",
    )

    assert made_request == build(MadeRequest, answer)
    [sent] = fake.received
    assert sent.headers["idempotency-key"] == "order-7"
    assert sent.json() == {
        "user_id": "usr_a",
        "scope": SCOPE,
        "purpose": "Suggest restaurants",
        "connector_public_key": public_half(KEY),
        "connector_key_id": thumbprint(KEY),
        "connector_wrapping_alg": "ECDH-ES+A256KW",
        "access_duration": 3600,
        "required_attributes": ["lifestyle.food.favorite_cuisine"],
    }


@pytest.mark.parametrize("member", ["user_id", "scope", "connector_key_id", "connector_fingerprint", "access_duration"])
def test_request_that_was_frozen_otherwise_is_refused(fake, client, member):
    other = {"access_duration": 9}.get(member, "another")
    fake.on("POST", "/api/v1/request-consent", Reply({**MADE_REQUEST, member: other}, 201))

    with refused_for(member):
        client.request_consent("usr_a", SCOPE, purpose="Suggest food", key=KEY, access_duration=86400)


OTHER_WORDS = {
    "user_id": "usr_b",
    "scope": "attr.lifestyle.*",
    "attributes": ["financial.income.salary"],
    "purpose": "Sell what you like",
    "connector_thumbprint": DIGEST,
    "access_duration": 31536000,
    "required_attributes": ["lifestyle.food.diet_preference"],
    "optional_attributes": ["lifestyle.food.diet_preference"],
    "max_reads": 7,
    "refresh_policy": "continuous",
    "binding_message": "Blue cat",
}


@pytest.mark.parametrize(("member", "other"), OTHER_WORDS.items(), ids=OTHER_WORDS)
def test_what_the_person_sees_is_what_was_asked_whatever_digest_the_server_makes(fake, client, member, other):
    fake.on("POST", "/api/v1/request-consent", Reply(request_answer(**{member: other}), 201))

    with refused_for(member):
        client.request_consent("usr_a", SCOPE, purpose=PURPOSE, key=KEY)


ALICES, BOBS = "sh_alices", "sh_bobs"


def test_the_sharing_id_that_was_used_goes_into_what_the_person_signs_for(fake, client):
    fake.on("POST", "/api/v1/request-consent", Reply(request_answer(invitation_sha256=sha256(ALICES)), 201))

    made_request = client.request_consent(ALICES, SCOPE, purpose=PURPOSE, key=KEY)

    assert fake.received[0].json()["invitation_sha256"] == made_request.request.invitation_sha256 == sha256(ALICES)


@pytest.mark.parametrize(
    ("frozen", "member"), [({"invitation_sha256": sha256(BOBS)}, "invitation_sha256"), ({}, "request_digest")]
)
def test_whom_another_invitation_or_none_led_to_is_refused(fake, client, frozen, member):
    fake.on("POST", "/api/v1/request-consent", Reply(request_answer(user_id="usr_bob", **frozen), 201))

    with refused_for(member):
        client.request_consent(ALICES, SCOPE, purpose=PURPOSE, key=KEY)


def test_a_digest_over_anything_else_is_refused(fake, client):
    hidden = request_digest({**FROZEN, "purpose": "Sell what you like"})
    fake.on("POST", "/api/v1/request-consent", Reply({**MADE_REQUEST, "request_digest": hidden}, 201))

    with refused_for("request_digest"):
        client.request_consent("usr_a", SCOPE, purpose=PURPOSE, key=KEY)


@pytest.mark.parametrize("member", ["request_id", "app_id", "expires_at"])
def test_what_the_answer_says_twice_it_says_alike(fake, client, member):
    request = {**FROZEN, member: "another"}
    fake.on(
        "POST",
        "/api/v1/request-consent",
        Reply({**MADE_REQUEST, "request": request, "request_digest": request_digest(request)}, 201),
    )

    with refused_for(member):
        client.request_consent("usr_a", SCOPE, purpose=PURPOSE, key=KEY)


def test_request_with_a_bad_key_is_never_sent(fake, client):
    with pytest.raises(KeyRefused):
        client.request_consent("usr_a", SCOPE, purpose="Suggest food", key={"kty": "OKP", "crv": "X25519", "x": "AA"})

    assert fake.received == []


def test_status_is_a_record_with_its_grant(fake, client):
    fake.on("GET", "/api/v1/consent-status", Reply(APPROVED))

    assert client.status("req_a", wait=0) == build(Status, APPROVED)
    assert client.newest_status("usr_a", SCOPE, wait=3).grant == build(Grant, GRANT)
    assert [call.query for call in fake.received] == [
        {"request_id": "req_a"},
        {"user_id": "usr_a", "scope": SCOPE, "wait": "3"},
    ]


def test_status_may_take_as_long_as_it_was_asked_to_wait(fake):
    fake.on("GET", "/api/v1/consent-status", Reply(APPROVED, delay=0.2))

    with Client(f"{fake.url}/api/v1/", TOKEN, read_timeout=0.1) as client:
        assert client.status("req_a", wait=20).status == "approved"


def test_waiting_ends_with_the_decision(fake, client, pauses):
    slow = problem("slow_down", 429, headers=[("Retry-After", "7")])
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING), slow, Reply(APPROVED))

    assert client.wait_for_decision("req_a", timeout=60).status == "approved"
    assert len(fake.received) == 3
    assert pauses == [1.0, 7.0]


def test_waiting_outlives_a_restart_of_the_service(fake, client, pauses):
    away = [DROP] * 7 + [problem("temporarily_unavailable", 503, headers=[("Retry-After", "3600")])]
    fake.on("GET", "/api/v1/consent-status", *away, Reply(APPROVED))

    assert client.wait_for_decision("req_a", timeout=60).status == "approved"
    assert max(pauses) <= 60


def test_waiting_for_a_service_that_stays_away_ends_with_its_time(fake):
    fake.on("GET", "/api/v1/consent-status", DROP)

    with Client(f"{fake.url}/api/v1", TOKEN) as client, pytest.raises(Unreachable):
        client.wait_for_decision("req_a", timeout=0.1)


def test_waiting_ends_with_its_time(fake):
    fake.on("GET", "/api/v1/consent-status", Reply(PENDING))

    with Client(f"{fake.url}/api/v1", TOKEN) as client, pytest.raises(WaitTimeout, match=r"within 0\.2 seconds"):
        client.wait_for_decision("req_a", timeout=0.2)


def test_waiting_for_ever_asks_as_any_other(fake, client, pauses):
    fake.on("GET", "/api/v1/consent-status", DROP, Reply(PENDING), Reply(APPROVED))

    assert client.wait_for_decision("req_a", timeout=math.inf).status == "approved"
    assert {call.query["wait"] for call in fake.received} == {"30"}


@pytest.mark.parametrize("timeout", [math.nan, -1.0, -math.inf])
def test_no_time_to_wait_is_refused_before_anything_is_sent(fake, client, timeout):
    with pytest.raises(Refused, match="no time to wait"):
        client.wait_for_decision("req_a", timeout=timeout)

    assert fake.received == []


def test_waiting_does_not_hide_an_error(fake, client):
    fake.on("GET", "/api/v1/consent-status", problem("unknown_request", 404))

    with pytest.raises(Problem) as caught:
        client.wait_for_decision("req_a", timeout=60)

    assert caught.value.code == "unknown_request"


def test_end_answers_the_status(fake, client):
    fake.on("POST", "/api/v1/end-consent", Reply({**PENDING, "status": "cancelled"}))

    assert client.end("req_a").status == "cancelled"
    assert fake.received[0].json() == {"request_id": "req_a"}


def test_all_requests_follow_the_cursor(fake, client):
    first = {"requests": [{**PENDING, "request_id": f"req_{index}"} for index in range(2)], "next_cursor": "c2"}
    second = {"requests": [APPROVED], "next_cursor": None}
    fake.on("GET", "/api/v1/consent-requests", Reply(first), Reply(second))

    found = [status.request_id for status in client.all_requests(status="pending")]

    assert found == ["req_0", "req_1", "req_a"]
    assert [call.query for call in fake.received] == [
        {"status": "pending", "limit": "100"},
        {"status": "pending", "cursor": "c2", "limit": "100"},
    ]


def test_people_are_found_by_how_they_begin_page_by_page(fake, client):
    zoe = {"handle": "zoe", "display_name": "Zoe", "headline": "", "location_hint": ""}
    fake.on("GET", "/api/v1/people", Reply({"people": [zoe], "next_cursor": "c2"}), Reply({"people": []}))

    found = client.people("zo", limit=1)

    assert [as_json(person) for person in found.people] == [zoe]
    with pytest.raises(BadAnswer):  # an answer without its cursor
        client.people(cursor=found.next_cursor)
    assert [call.query for call in fake.received] == [{"query": "zo", "limit": "1"}, {"cursor": "c2"}]


def test_what_clients_use_is_named_at_the_top():
    import consent_bridge

    for name in consent_bridge.__all__:
        assert getattr(consent_bridge, name).__module__.startswith("consent_bridge.")
    with pytest.raises(AttributeError, match="no attribute 'Other'"):
        _ = consent_bridge.Other
