"""Reading an export: it is opened only if it is what was asked for."""

import json

import pytest

from consent_bridge.client import Client, open_envelope
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.keys import public_half
from consent_bridge.opening import check_request
from consent_bridge.results import Envelope, MadeRequest, Slice, as_json, build
from consent_bridge.sealed import (
    ExportContent,
    generate_connector_key,
    request_digest,
)
from tests.bridge.fake_service import DROP, Reply, problem
from tests.bridge.refusals import refused_for
from tests.bridge.wire import (
    CONTENT,
    KEY,
    MADE_REQUEST,
    SCOPE,
    TOKEN,
    envelope,
)


def test_slice_is_read_opened_and_compared(fake, client):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope()))

    opened = client.read(build(MadeRequest, MADE_REQUEST), KEY)

    assert json.loads(json.dumps(as_json(opened))) == {
        "request_id": "req_a",
        "grant_id": "grt_a",
        "export_id": "exp_a",
        "revision": 1,
        "user_id": "usr_a",
        "scope": SCOPE,
        "approved_attributes": ["lifestyle.food.favorite_cuisine"],
        "data": {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}},
        "sources": [{"domain": "lifestyle", "segment_id": "food", "content_revision": None}],
        "sealed_at": "2026-11-20T10:05:00Z",
        "expires_at": "2026-11-21T10:00:00Z",
        "reads_remaining": None,
    }


@pytest.mark.parametrize("how", ["as it was asked", "not at all", "by a later version"])
def test_an_answer_is_taken_only_with_how_it_was_made(how):
    path = "lifestyle.food.favorite_cuisine"
    made = {"from": "lifestyle.food.all", "rule": {"kind": "part", "characters": 4}, "rule_version": 1}
    derived = {
        "as it was asked": {path: made},
        "not at all": {},
        "by a later version": {path: made | {"rule_version": 2}},
    }
    request = {**MADE_REQUEST["request"], "derived": {path: made}}
    digest = request_digest(request)
    made_request = build(MadeRequest, {**MADE_REQUEST, "request": request, "request_digest": digest})
    content = ExportContent(**{**vars(CONTENT), "derived": derived[how]})
    found = build(Envelope, envelope(header={"request_digest": digest}, content=content))

    if how == "as it was asked":
        assert open_envelope(found, made_request, KEY).derived == {path: made}
    else:
        with pytest.raises(Refused, match="derived"):
            open_envelope(found, made_request, KEY)


@pytest.mark.parametrize("as_given", [list, tuple])
def test_a_service_cannot_make_an_accepted_answer_of_another_value(as_given):
    source, path = "lifestyle.food.favorite_cuisine", "lifestyle.food.begins"
    body = {"user_id": "usr_a", "scope": SCOPE, "purpose": MADE_REQUEST["request"]["purpose"],
            "connector_public_key": KEY, "connector_key_id": MADE_REQUEST["connector_key_id"],
            "accepts": {source: as_given([path])}}  # fmt: skip
    for made_from, member in ((source, None), ("lifestyle.food.diet_preference", "accepts")):
        made = {"from": made_from, "rule": {"kind": "is_set"}, "rule_version": 1}
        request = {**MADE_REQUEST["request"], "accepts": {source: [path]}, "derived": {path: made}}
        made_request = build(
            MadeRequest, {**MADE_REQUEST, "request": request, "request_digest": request_digest(request)}
        )
        if member is None:
            check_request(made_request, body)
            continue
        with refused_for(member, match="not each accepted answer"):
            check_request(made_request, body)


def test_lost_read_is_repeated_under_the_same_key_so_that_it_counts_once(fake, client):
    fake.on("GET", "/api/v1/consent-export", DROP, problem("temporarily_unavailable", 503), Reply(envelope()))

    client.read(build(MadeRequest, MADE_REQUEST), KEY)
    client.read(build(MadeRequest, MADE_REQUEST), KEY)

    keys = [call.headers["idempotency-key"] for call in fake.calls("/api/v1/consent-export")]
    assert len(keys) == 4
    assert len(set(keys[:3])) == 1
    assert keys[3] != keys[0]


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        ({"header": {"aud": "app_b"}}, "aud"),
        ({"header": {"sub": "usr_b"}}, "sub"),
        ({"header": {"iss": "https://other.example"}}, "iss"),
        ({"header": {"kid": "k2"}}, "kid"),
        ({"header": {"request_id": "req_b"}}, "request_id"),
        ({"header": {"request_digest": "A" * 43}}, "request_digest"),
        ({"header": {"revision": 2}}, "revision"),
        ({"request_id": "req_b"}, "request_id"),
        ({"user_id": "usr_b"}, "user_id"),
        ({"scope": "attr.contact.*"}, "scope"),
        ({"connector_key_id": "k2"}, "connector_key_id"),
        ({"approved_attributes": ["lifestyle.food.diet_preference"]}, "approved_attributes"),
        ({"approved_attributes": []}, "approved_attributes"),
    ],
)
def test_export_that_is_not_what_was_asked_for_is_refused(fake, client, changed, member):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope(**changed)))

    with refused_for(member, match=member):
        client.read(build(MadeRequest, MADE_REQUEST), KEY)


def test_export_of_another_scope_is_refused():
    header = {"scope": "attr.lifestyle.*"}
    content = ExportContent(**{**vars(CONTENT), "scope": "attr.lifestyle.*"})
    other = build(Envelope, envelope(header=header, content=content))

    with pytest.raises(Refused, match="header member scope"):
        open_envelope(other, build(MadeRequest, MADE_REQUEST), KEY)


def test_older_revision_than_seen_is_refused(fake, client):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope(2)), Reply(envelope(1)), Reply(envelope(2)))
    made_request = build(MadeRequest, MADE_REQUEST)

    assert client.read(made_request, KEY).revision == 2
    with pytest.raises(Refused, match="revision 1 is lower than 2"):
        client.read(made_request, KEY)
    assert client.read(made_request, KEY).revision == 2
    with pytest.raises(Refused, match="revision 2 is lower than 3"):
        client.read(made_request, KEY, seen_revision=3)


def test_read_with_another_key_never_leaves_this_machine(fake, client):
    with pytest.raises(KeyRefused, match="not the key"):
        client.read(build(MadeRequest, MADE_REQUEST), generate_connector_key())

    assert fake.received == []


@pytest.mark.parametrize("half", ["public", "of another key"])
def test_a_key_that_cannot_open_is_found_out_before_a_read_is_counted(fake, client, half):
    fake.on("GET", "/api/v1/consent-export", Reply(envelope()))
    key = public_half(KEY) if half == "public" else {**KEY, "d": generate_connector_key()["d"]}

    with refused_for("d"):
        client.read(build(MadeRequest, MADE_REQUEST), key)

    assert fake.received == []


def test_export_of_16_mib_is_read(fake, client):
    data = {"lifestyle": {"food": {"favorite_cuisine": "x" * (16 * 1024 * 1024 - 400)}}}
    large = envelope(content=ExportContent(**{**vars(CONTENT), "data": data}))
    fake.on("GET", "/api/v1/consent-export", Reply(large))

    with Client(f"{fake.url}/api/v1", TOKEN) as patient:
        assert patient.read(build(MadeRequest, MADE_REQUEST), KEY).data == data


def test_a_read_that_changed_nothing_hands_out_nothing(fake, client):
    known = Reply(envelope(), headers=(("ETag", '"exp_a-json"'),))
    fake.on("GET", "/api/v1/consent-export", known, Reply(b"", 304))
    made_request = build(MadeRequest, MADE_REQUEST)

    assert client.read_newer(made_request, KEY, client.read(made_request, KEY)) is None
    assert fake.received[-1].headers["if-none-match"] == '"exp_a-json"'
    assert {call.headers["authorization"] for call in fake.received} == {f"Bearer {TOKEN}"}


def test_another_process_asks_for_what_is_newer_by_what_was_kept_as_json(fake, client):
    known = Reply(envelope(), headers=(("ETag", '"exp_a-json"'),))
    fake.on("GET", "/api/v1/consent-export", known, Reply(b"", 304))
    made_request = build(MadeRequest, MADE_REQUEST)
    opened = client.read(made_request, KEY)

    kept = build(Slice, json.loads(json.dumps(as_json(opened))))

    assert kept == opened
    assert client.read_newer(made_request, KEY, kept) is None
    assert fake.received[-1].headers["if-none-match"] == '"exp_a-json"'
