"""`GET /consent-export` (contract 1.5): the sealed slice over HTTP."""

from datetime import timedelta
from typing import Any

import pytest

from consent.exports.models import Read
from consent_bridge import sealed
from tests.callers import Developer
from tests.consent.api.addresses import problem
from tests.factories import AppFactory, ConsentRequestFactory, ExportFactory, GrantFactory
from tests.factories.consent_requests import now


def read(api: Developer, request: Any, /, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.get("/consent-export", request_id=request.request_id, headers=named)


def test_the_slice_arrives_sealed_and_opens_with_the_connector_key(api: Developer) -> None:
    export = ExportFactory(grant__request__app=api.app, grant__request__max_reads=4)
    request = export.grant.request

    answer = read(api, request)

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert "Accept" in answer["Vary"].split(", ")
    assert answer["Cache-Control"] == "no-store"
    assert answer.json() == {
        "request_id": request.request_id,
        "grant_id": export.grant.grant_id,
        "export_id": export.export_id,
        "revision": 1,
        "user_id": request.pairwise_id,
        "scope": request.scope,
        "approved_attributes": export.grant.approved_attributes,
        "connector_key_id": "key-1",
        "sealed_at": export.sealed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "expires_at": export.grant.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reads_remaining": 3,
        "size_bytes": len(export.ciphertext),
        "jwe": export.ciphertext,
        "approval": "signed.by.nobody",
        "owner_key": {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43},
        "key_history": [],
        "owner_key_reset": False,
    }
    opened = sealed.open_export_where(answer.json()["jwe"], request.connector, lambda header: None)
    assert opened.data == {
        "lifestyle": {"food": dict.fromkeys(["diet_preference", "favorite_cuisine", "coffee_or_tea"], "Thai")}
    }


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/jose", "jose"),
        ("Application/JOSE", "jose"),
        ("application/jose, application/json;q=0.5", "jose"),
        ("text/html, application/jose;q=0.2", "jose"),
        ("application/json", "json"),
        ("application/json, application/jose", "json"),
        ("application/jose;q=0", "json"),
        ("application/jose;q=nonsense", "json"),
        ("*/*", "json"),
        ("application/*", "json"),
        ("", "json"),
        (";;,,;q=", "json"),
    ],
)
def test_accept_chooses_the_form(accept: str, kind: str, api: Developer) -> None:
    export = ExportFactory(grant__request__app=api.app)

    answer = read(api, export.grant.request, Accept=accept)

    assert (answer.status_code, answer["Content-Type"]) == (200, f"application/{kind}")
    if kind == "jose":
        assert answer.content.decode() == export.ciphertext


def test_a_match_is_304_without_a_body_or_a_read(api: Developer) -> None:
    request = ExportFactory(grant__request__app=api.app).grant.request
    etag = read(api, request)["ETag"]

    same = read(api, request, If_None_Match=etag)
    listed = read(api, request, If_None_Match=f'"x", W/{etag}')
    anything = read(api, request, If_None_Match="*")
    other_form = read(api, request, If_None_Match=etag, Accept="application/jose")
    same_form = read(api, request, If_None_Match=f'W/{other_form["ETag"]}, "x"', Accept="application/jose")
    other = read(api, request, If_None_Match='"x"')

    for unchanged in (same, listed, anything):
        assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", etag)
        assert "Content-Type" not in unchanged
    assert (other_form.status_code, other.status_code, same_form.status_code) == (200, 200, 304)
    assert other_form["ETag"] != etag
    assert Read.objects.count() == 3


def test_liveness_comes_before_the_match(api: Developer) -> None:
    grant = ExportFactory(grant__request__app=api.app).grant
    etag = read(api, grant.request)["ETag"]

    assert api.post("/end-consent", {"request_id": grant.request.request_id}).status_code == 200

    assert problem(read(api, grant.request, If_None_Match=etag)) == (410, "grant_ended")


def test_a_repeat_with_the_same_key_is_one_read(api: Developer) -> None:
    first, other = (ExportFactory(grant__request__app=api.app).grant.request for _ in range(2))

    answers = [read(api, first, Idempotency_Key="once") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.content for answer in answers}) == 1
    assert Read.objects.count() == 1
    assert problem(read(api, other, Idempotency_Key="once")) == (409, "idempotency_conflict")


@pytest.mark.parametrize("key", ["", "k" * 129, "a\x07b", "a\x7fb"])
def test_a_key_that_does_not_fit_is_refused_and_reads_nothing(key: str, api: Developer) -> None:
    request = ExportFactory(grant__request__app=api.app).grant.request

    assert problem(read(api, request, Idempotency_Key=key)) == (400, "invalid_request")
    assert not Read.objects.exists()


def test_a_key_may_be_of_any_alphabet(api: Developer) -> None:
    request = ExportFactory(grant__request__app=api.app).grant.request
    key = "été à Łódź 東京".encode().decode("latin-1")  # as it stands in the environ of a WSGI server

    assert [read(api, request, Idempotency_Key=key).status_code for _ in range(2)] == [200, 200]
    assert Read.objects.count() == 1


def test_the_readers_network_is_kept_and_not_its_address(api: Developer) -> None:
    request = ExportFactory(grant__request__app=api.app).grant.request

    api.client.get(
        f"/api/v1/consent-export?request_id={request.request_id}", headers=api.headers, REMOTE_ADDR="203.0.113.77"
    )

    assert Read.objects.get().address_prefix == "203.0.113.0/24"


def test_the_reader_behind_our_own_proxy_is_whom_it_saw(api: Developer, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    request = ExportFactory(grant__request__app=api.app).grant.request

    read(api, request, X_Forwarded_For="198.51.100.1, 203.0.113.77")

    assert Read.objects.get().address_prefix == "203.0.113.0/24"


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        ("pending", (409, "authorization_pending")),
        ("denied", (403, "access_denied")),
        ("cancelled", (410, "grant_ended")),
        ("expired", (410, "grant_ended")),
    ],
)
def test_without_an_approval_nothing_is_read(status: str, refusal: tuple[int, str], api: Developer) -> None:
    answer = read(api, ConsentRequestFactory(app=api.app, status=status))

    assert problem(answer) == refusal


@pytest.mark.parametrize("status", ["revoked", "released", "terminated", "expired", "exhausted", "superseded"])
def test_what_has_ended_is_gone_and_says_how(status: str, api: Developer) -> None:
    answer = read(api, GrantFactory(request__app=api.app, status=status).request)

    assert problem(answer) == (410, "grant_ended")
    assert answer.json()["grant_status"] == status


def test_what_the_clock_ended_is_gone_before_anybody_wrote_it_down(api: Developer) -> None:
    started = now() - timedelta(days=2)
    over = ExportFactory(grant__request__app=api.app, grant__starts_at=started).grant

    answer = read(api, over.request)

    assert (problem(answer), answer.json()["grant_status"]) == ((410, "grant_ended"), "expired")
    assert not Read.objects.exists()


def test_what_is_paused_may_come_back(api: Developer) -> None:
    assert problem(read(api, ExportFactory(grant__request__app=api.app, grant__status="paused").grant.request)) == (
        403, "grant_paused",
    )  # fmt: skip


def test_another_apps_export_does_not_exist(api: Developer) -> None:
    theirs = ExportFactory().grant.request
    same = {"X_Request_Id": "the-same-id"}

    answer, nothing = (
        read(api, theirs, **same),
        api.get("/consent-export", request_id="req_nothing", headers={"X-Request-Id": "the-same-id"}),
    )

    assert problem(answer) == (404, "unknown_request")
    assert answer.content == nothing.content
    assert read(Developer.of(theirs.app), theirs).status_code == 200
    assert read(Developer.of(AppFactory()), theirs).status_code == 404


@pytest.mark.parametrize(
    "query", [{}, {"request_id": ""}, {"request_id": "r" * 65}, {"request_id": "req_1", "wait": "1"}]
)
def test_a_query_that_does_not_fit_is_400(query: dict[str, str], api: Developer) -> None:
    assert problem(api.get("/consent-export", **query)) == (400, "invalid_request")
