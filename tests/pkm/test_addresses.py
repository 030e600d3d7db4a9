"""The vault's addresses: works, wrong method, stranger, bad input; statuses, codes and shapes of contract §2."""

import orjson
import pytest
from django.test import Client

from accounts.models import SecurityChange
from consent.ledger.models import AuditEntry
from consent_bridge import sealed, signatures
from pkm.segments.models import Blob
from pkm.vault import queries as vault_queries
from pkm.vault.models import KeyWrapper, VaultKey
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory, give_vault
from tests.pkm.sealed_segments import segment, wrapper

FOOD = {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai"}
ADDRESSES = {
    "/vault/keys": ("GET", "POST"),
    "/vault/signing-key": ("PUT",),
    "/vault/notes": ("GET", "PUT"),
    "/vault/wrappers": ("POST",),
    "/vault/wrappers/wrp_x": ("DELETE",),
    "/vault/wrappers/wrp_x/restore": ("POST",),
    "/vault/unlocked": ("POST",),
    "/vault/segments": ("GET",),
    "/vault/segments/lifestyle/food": ("PUT", "DELETE"),
    "/vault/hidden-scopes/attr.lifestyle.*": ("PUT", "DELETE"),
    "/vault/rotation": ("GET", "POST", "DELETE"),
    "/vault/rotation/finish": ("POST",),
    "/vault/rotation/notes": ("PUT",),
    "/vault/rotation/segments/lifestyle/food": ("GET", "PUT"),
    "/vault/legacy": ("GET",),
    "/vault/legacy/progress": ("PUT",),
    "/vault/legacy/lifestyle/finish": ("POST",),
}
PAIRS = [(address, method) for address, methods in ADDRESSES.items() for method in methods]


@pytest.fixture
def vault(person):
    return give_vault(person, {})


def _problem(answer, status, code):
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), answer.content
    body = answer.json()
    assert (body["status"], body["code"], body["type"]) == (status, code, f"/docs/errors#{code}")
    assert body["trace_id"] == answer.headers["X-Request-Id"]
    return body


# --- what every address keeps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_wrong_method_is_refused_before_the_session_is_looked_at(client_json, db, address, method):
    if method in ADDRESSES[address]:
        return
    answer = client_json.send(method, address, b"{")
    _problem(answer, 405, "method_not_allowed")
    assert {name.strip() for name in answer.headers["Allow"].split(",")} - {"HEAD"} == set(ADDRESSES[address])


@pytest.mark.parametrize(("address", "method"), PAIRS)
def test_somebody_deactivated_is_a_stranger(owner, person, address, method):
    person.is_active = False
    person.save()
    _problem(owner.send(method, address, b"{}"), 401, "authentication_required")


@pytest.mark.parametrize(("address", "method"), PAIRS)
def test_developer_token_opens_no_owner_address(api, address, method):
    stranger = JsonClient(Client(), headers=api.headers)
    _problem(stranger.send(method, address, b"{}"), 401, "authentication_required")
    _problem(stranger.send(method, f"{address}?token={api.token}", b"{}"), 401, "authentication_required")


@pytest.mark.parametrize(("address", "method"), PAIRS)
def test_unknown_parameter_is_refused(owner, address, method):
    body = _problem(owner.send(method, f"{address}?surprise=1", b"{}"), 400, "invalid_request")
    assert [error["field"] for error in body["errors"] if error["code"] == "extra_forbidden"] == ["surprise"]


BODIES = [pair for pair in PAIRS if pair[1] in ("POST", "PUT")]


@pytest.mark.parametrize(("address", "method"), BODIES)
@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b'{"a":1,"a":2}', b'{"a":NaN}', b'{"surprise":1}', b"\xff"])
def test_body_that_does_not_fit_is_refused(owner, address, method, body):
    _problem(owner.send(method, address, body), 400, "invalid_request")


@pytest.mark.parametrize(("address", "method"), BODIES)
def test_other_media_type_is_refused(owner, address, method):
    _problem(owner.send(method, address, b"a=1", media_type="text/plain"), 415, "unsupported_media_type")


@pytest.mark.parametrize(("address", "method"), BODIES)
def test_body_over_16_mib_is_refused(owner, address, method):
    _problem(owner.send(method, address, b" " * (16 * 1024 * 1024 + 1)), 413, "payload_too_large")


NEED_RECENT = [
    ("/vault/wrappers", "POST"),
    ("/vault/wrappers/wrp_x", "DELETE"),
    ("/vault/wrappers/wrp_x/restore", "POST"),
    ("/vault/rotation", "POST"),
    ("/vault/rotation", "DELETE"),
    ("/vault/rotation/finish", "POST"),
    ("/vault/rotation/notes", "PUT"),
    ("/vault/rotation/segments/lifestyle/food", "PUT"),
]


@pytest.mark.parametrize(("address", "method"), NEED_RECENT)
def test_old_sign_in_cannot_change_the_ways_in(person, address, method):
    body = _problem(signed_in(person, seconds_ago=601).send(method, address, b"{}"), 403, "reauthentication_required")
    assert body["url"].endswith("/accounts/reauthenticate/")


# --- /vault/keys ------------------------------------------------------------------------------------------------------


def test_get_keys(owner, vault, person, django_assert_num_queries):
    with django_assert_num_queries(4):  # session, user, vault, wrappers
        answer = owner.get("/vault/keys")
    assert (answer.status_code, answer.json()) == (200, vault_queries.vault_keys(person))
    assert answer.headers["Cache-Control"] == "no-store"
    only = answer.json()["wrappers"][0]
    assert sealed.unwrap(only["jwe"], "recovery", vault.recovery_code, user_id=person.public_id) == vault.key


def test_get_keys_without_a_vault(owner, person):
    assert owner.get("/vault/keys").json() == {
        "user_id": person.public_id,
        "key_id": None,
        "vault_status": "absent",
        "primary_wrapper_id": None,
        "wrappers": [],
        "signing_public_key": None,
        "signing_jwe": None,
        "rotation": None,
    }


def test_post_keys_creates_the_vault_once(owner, person, django_assert_num_queries):
    key = sealed.generate_vault_key()
    body = {"key_id": key.key_id, "wrappers": [wrapper(person, key), wrapper(person, key, "passkey")]}
    with django_assert_num_queries(21):  # one for the second factor, which there is none of
        answer = owner.post("/vault/keys", body)
    assert (answer.status_code, answer.json()) == (201, vault_queries.vault_keys(person))
    assert [way["jwe"] for way in answer.json()["wrappers"]] == [way["jwe"] for way in body["wrappers"]]
    _problem(owner.post("/vault/keys", body), 409, "vault_exists")
    assert KeyWrapper.objects.count() == 2


def test_a_vault_and_its_first_root_take_a_fresh_sign_in_and_are_told(person):
    key = sealed.generate_vault_key()
    _, members = sealed.new_root(key.secret, key.key_id, person.public_id)
    body = {"key_id": key.key_id, "wrappers": [wrapper(person, key)], **members}

    refused = _problem(signed_in(person, seconds_ago=601).post("/vault/keys", body), 403, "reauthentication_required")
    assert refused["url"].endswith("/accounts/reauthenticate/")
    assert not VaultKey.objects.exists()

    assert signed_in(person, seconds_ago=590).post("/vault/keys", body).status_code == 201
    assert list(SecurityChange.objects.filter(user=person).values_list("kind", flat=True)) == ["signing_key_set"]
    entry = AuditEntry.objects.select_related("kept").get(kind="signing_key_set")
    assert entry.facts["new"] == signatures.thumbprint(members["signing_public_key"])


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"key_id": None}, ["key_id"]),
        ({"key_id": "vk_short"}, ["key_id"]),
        ({"key_id": "another_t2zp3gog7m6odtqh"}, ["key_id"]),
        ({"key_id": "vk_t2zp3gog7m6odtqh\n"}, ["key_id"]),
        ({"wrappers": []}, ["wrappers"]),
        ({"wrappers": "none"}, ["wrappers"]),
        ({"surprise": 1}, ["surprise"]),
    ],
)
def test_post_keys_names_what_does_not_fit(owner, person, change, fields):
    key = sealed.generate_vault_key()
    body = {"key_id": key.key_id, "wrappers": [wrapper(person, key)]} | change
    assert [
        error["field"] for error in _problem(owner.post("/vault/keys", body), 400, "invalid_request")["errors"]
    ] == fields
    assert not VaultKey.objects.exists()


# --- /vault/wrappers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"kind": "guess"}, ["kind"]),
        ({"label": ""}, ["label"]),
        ({"label": "two\nlines"}, ["label"]),
        ({"label": "turned\u202earound"}, ["label"]),
        ({"label": "x" * 81}, ["label"]),
        ({"jwe": ""}, ["jwe"]),
        ({"jwe": "x" * 4097}, ["jwe"]),
        ({"jwe": 1}, ["jwe"]),
        ({"credential_id": "Y3JlZA"}, [""]),
        ({"kind": "passkey"}, [""]),
    ],
)
def test_post_wrapper_names_what_does_not_fit(owner, person, vault, change, fields):
    body = _problem(owner.post("/vault/wrappers", wrapper(person, vault.key) | change), 400, "invalid_request")
    assert [error["field"] for error in body["errors"]] == fields


def test_wrapper_comes_goes_and_comes_back(owner, person, vault, django_assert_num_queries):
    with django_assert_num_queries(14):  # one for the second factor, which there is none of
        added = owner.post("/vault/wrappers", wrapper(person, vault.key, "passkey", label="My phone"))
    assert (added.status_code, added.json()) == (201, vault_queries.vault_keys(person)["wrappers"][1])
    address = f"/vault/wrappers/{added.json()['wrapper_id']}"
    with django_assert_num_queries(14):
        removed = owner.delete(address)
    assert (removed.status_code, removed.content) == (204, b"")
    assert len(owner.get("/vault/keys").json()["wrappers"]) == 1
    _problem(owner.delete(address), 404, "not_found")
    with django_assert_num_queries(15):
        restored = owner.post(f"{address}/restore")
    assert (restored.status_code, restored.json()) == (200, added.json())


def test_post_wrapper_that_belongs_elsewhere(owner, person, vault):
    body = wrapper(PersonFactory(), vault.key)
    assert _problem(owner.post("/vault/wrappers", body), 400, "wrapper_mismatch")["member"] == "sub"


def test_post_wrapper_without_a_vault(owner, person):
    _problem(owner.post("/vault/wrappers", wrapper(person, sealed.generate_vault_key())), 409, "vault_absent")


def test_wrappers_of_somebody_else_are_not_found(vault):
    stranger = signed_in(PersonFactory())
    theirs = KeyWrapper.objects.get(user=vault.user).wrapper_id
    _problem(stranger.delete(f"/vault/wrappers/{theirs}"), 404, "not_found")
    _problem(stranger.post(f"/vault/wrappers/{theirs}/restore"), 404, "not_found")
    _problem(stranger.post("/vault/unlocked", {"wrapper_id": theirs}), 404, "not_found")


def test_unlocked(owner, vault, django_assert_num_queries):
    only = KeyWrapper.objects.get(user=vault.user)
    with django_assert_num_queries(6):
        answer = owner.post("/vault/unlocked", {"wrapper_id": only.wrapper_id})
    assert (answer.status_code, answer.content) == (204, b"")
    assert KeyWrapper.objects.get(user=vault.user).last_used_at is not None


# --- /vault/segments --------------------------------------------------------------------------------------------------


def test_segment_is_written_read_and_deleted(owner, vault, django_assert_num_queries):
    body = segment(vault, "lifestyle", "food", FOOD)
    with django_assert_num_queries(22):
        written = owner.put("/vault/segments/lifestyle/food", body)
    blob = Blob.objects.get()
    expected = {
        "domain": "lifestyle",
        "segment_id": "food",
        "content_revision": 1,
        "manifest_revision": 1,
        "attributes": ["diet_preference", "favorite_cuisine"],
        "size_bytes": len(body["jwe"]),
        "updated_at": blob.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert (written.status_code, written.json()) == (200, expected)
    with django_assert_num_queries(4):  # session, user, segments, names
        read = owner.get("/vault/segments", scope="attr.lifestyle.food.*")
    assert (read.status_code, read.json()) == (200, {"segments": [expected | {"jwe": body["jwe"]}]})
    assert owner.get("/vault/segments", domain="lifestyle").json() == read.json() == owner.get("/vault/segments").json()
    assert owner.get("/vault/segments", domain="contact").json() == {"segments": []}
    deleted = owner.delete("/vault/segments/lifestyle/food", base_content_revision="1.0")
    assert deleted.status_code == 200
    assert {name: deleted.json()[name] for name in ("content_revision", "attributes", "size_bytes")} == {
        "content_revision": 2,
        "attributes": [],
        "size_bytes": 0,
    }
    assert owner.get("/vault/segments").json() == {"segments": []}


def test_later_write_takes_a_fixed_number_of_queries(owner, vault, django_assert_num_queries):
    for base in range(12):
        owner.put("/vault/segments/lifestyle/food", segment(vault, "lifestyle", "food", FOOD, base=base))
    body = segment(vault, "lifestyle", "food", FOOD, base=12)
    with django_assert_num_queries(22):  # three of them count it, in its transaction
        assert owner.put("/vault/segments/lifestyle/food", body).json()["content_revision"] == 13


def test_stale_write_tells_the_current_revision(owner, vault):
    body = segment(vault, "lifestyle", "food", FOOD)
    owner.put("/vault/segments/lifestyle/food", body)
    refused = _problem(owner.put("/vault/segments/lifestyle/food", body), 409, "stale_revision")
    assert refused["current_content_revision"] == 1
    refused = owner.delete("/vault/segments/lifestyle/food", base_content_revision=0)
    assert _problem(refused, 409, "stale_revision")["current_content_revision"] == 1
    _problem(owner.delete("/vault/segments/lifestyle/food", base_content_revision="1\n"), 400, "invalid_request")


@pytest.mark.parametrize("address", ["pets/food", "lifestyle/pets", "Lifestyle/food", "lifestyle/%2A"])
def test_unknown_segment_is_not_found(owner, vault, address):
    _problem(owner.put(f"/vault/segments/{address}", segment(vault, "lifestyle", "food", FOOD)), 404, "not_found")
    _problem(owner.delete(f"/vault/segments/{address}", base_content_revision=0), 404, "not_found")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"jwe": None}, "jwe"),
        ({"jwe": ""}, "jwe"),
        ({"base_content_revision": "0"}, "base_content_revision"),
        ({"base_content_revision": -1}, "base_content_revision"),
        ({"base_content_revision": 0.5}, "base_content_revision"),
        ({"base_content_revision": True}, "base_content_revision"),
        ({"base_content_revision": 2**31}, "base_content_revision"),
        ({"attributes": "favorite_cuisine"}, "attributes"),
        ({"attributes": ["Favourite"]}, "attributes.0"),
        ({"attributes": ["a" * 65]}, "attributes.0"),
        ({"attributes": ["a\n"]}, "attributes.0"),
        ({"attributes": ["a", "a"]}, "attributes"),
        ({"values": {}}, "values"),
    ],
)
def test_put_segment_names_what_does_not_fit(owner, vault, change, field):
    body = segment(vault, "lifestyle", "food", FOOD) | change
    refused = _problem(owner.put("/vault/segments/lifestyle/food", body), 400, "invalid_request")
    assert [error["field"] for error in refused["errors"]] == [field]
    assert not Blob.objects.exists()


@pytest.mark.parametrize(
    "query",
    [
        "scope=nonsense", "scope=", "domain=A", "scope=attr.lifestyle.*&domain=lifestyle",
        "domain=lifestyle&domain=contact", "scope=attr.lifestyle.*%0A",
    ],
)  # fmt: skip
def test_segments_query_that_does_not_fit(owner, query):
    _problem(owner.send("GET", f"/vault/segments?{query}"), 400, "invalid_request")


@pytest.mark.parametrize(
    "query", ["", "base=", "base=-1", "base=1.5", "base=%2B1", "base=1%0A", "base=1&base=1", "bass=1"]
)
def test_delete_query_that_does_not_fit(owner, vault, query):
    query = query.replace("base=", "base_content_revision=")
    _problem(owner.send("DELETE", f"/vault/segments/lifestyle/food?{query}"), 400, "invalid_request")


def test_segments_of_somebody_else_are_never_shown(owner, vault):
    owner.put("/vault/segments/lifestyle/food", segment(vault, "lifestyle", "food", FOOD))
    stranger = PersonFactory()
    give_vault(stranger, {})
    assert signed_in(stranger).get("/vault/segments").json() == {"segments": []}
    refused = signed_in(stranger).delete("/vault/segments/lifestyle/food", base_content_revision=1)
    _problem(refused, 404, "not_found")


def test_segment_of_many_megabytes_is_kept(owner, vault):
    body = segment(vault, "lifestyle", "food", {"favorite_cuisine": "x" * (11 * 1024 * 1024)})
    raw = orjson.dumps(body)
    assert len(raw) < 16 * 1024 * 1024
    assert owner.send("PUT", "/vault/segments/lifestyle/food", raw).json()["size_bytes"] == len(body["jwe"])
