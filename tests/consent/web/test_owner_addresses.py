"""The owner's JSON addresses: works, wrong method, stranger, bad input; statuses, codes and shapes of contract §2."""

from datetime import timedelta

import pytest
from django.test import Client

from consent import status
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from tests.callers import JsonClient, signed_in
from tests.consent.decisions import approval_body, refreshed, resumption
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, give_vault
from tests.factories.consent_requests import now
from tests.vouched import vouch_for

DIET, CUISINE, DRINK = (f"lifestyle.food.{name}" for name in ("diet_preference", "favorite_cuisine", "coffee_or_tea"))
ADDRESSES = {
    "/consent/requests/req_x/data": "GET",
    "/consent/requests/req_x/decision": "POST",
    "/consent/grants/outdated": "GET",
    "/consent/history/chain": "GET",
    "/consent/grants/grt_x/revoke": "POST",
    "/consent/grants/grt_x/pause": "POST",
    "/consent/grants/grt_x/resume": "POST",
    "/consent/grants/grt_x/nonce": "GET",
    "/consent/grants/grt_x/approval": "GET",
    "/consent/approval-keys": "GET",
    "/consent/grants/grt_x/export": "PUT",
}
WITH_BODY = [(address, method) for address, method in ADDRESSES.items() if method != "GET"]


def _problem(answer, status, code):
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), answer.content
    body = answer.json()
    assert (body["status"], body["code"], body["type"]) == (status, code, f"/docs/errors#{code}")
    assert body["trace_id"] == answer.headers["X-Request-Id"]
    return body


def _decision(consent_request):
    return f"/consent/requests/{consent_request.request_id}/decision"


def _owner_status(consent_request):
    return status.for_owner(request_id=consent_request.request_id, user=consent_request.user)


# --- what every address keeps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_wrong_method_is_refused_before_the_session_is_looked_at(client_json, db, address, method):
    if method == ADDRESSES[address]:
        return
    answer = client_json.send(method, address, b"{")
    _problem(answer, 405, "method_not_allowed")
    assert {name.strip() for name in answer.headers["Allow"].split(",")} - {"HEAD"} == {ADDRESSES[address]}


@pytest.mark.parametrize(("address", "method"), ADDRESSES.items())
def test_developer_token_opens_no_owner_address(api, address, method):
    stranger = JsonClient(Client(), headers=api.headers)
    _problem(stranger.send(method, address, b"{}"), 401, "authentication_required")
    _problem(stranger.send(method, f"{address}?token={api.token}", b"{}"), 401, "authentication_required")


@pytest.mark.parametrize(("address", "method"), ADDRESSES.items())
def test_unknown_parameter_is_refused(owner, address, method):
    body = _problem(owner.send(method, f"{address}?surprise=1", b"{}"), 400, "invalid_request")
    assert [error["field"] for error in body["errors"]] == ["surprise"]


@pytest.mark.parametrize(("address", "method"), WITH_BODY)
@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b'{"a":1,"a":2}', b'{"a":NaN}', b'{"surprise":1}', b"\xff"])
def test_body_that_does_not_fit_is_refused(owner, address, method, body):
    _problem(owner.send(method, address, body), 400, "invalid_request")


@pytest.mark.parametrize(("address", "method"), WITH_BODY)
def test_other_media_type_is_refused(owner, address, method):
    _problem(owner.send(method, address, b"a=1", media_type="text/plain"), 415, "unsupported_media_type")


def test_export_over_16_mib_is_refused(owner):
    body = b" " * (16 * 1024 * 1024 + 1)
    _problem(owner.send("PUT", "/consent/grants/grt_x/export", body), 413, "payload_too_large")


# --- data -------------------------------------------------------------------------------------------------------------


def test_data_is_what_the_digest_is_over_and_what_is_shown(owner, consent_request):
    answer = owner.get(f"/consent/requests/{consent_request.request_id}/data")

    body = answer.json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert set(body) == {
        "request", "request_digest", "status", "connector_public_key", "connector_key_id", "app", "scope_entry",
        "issuer", "export_revision", "known_connector_key", "vouching",
    }  # fmt: skip
    assert sealed.request_digest(body["request"]) == body["request_digest"] == consent_request.request_digest
    assert sealed.thumbprint(body["connector_public_key"]) == body["request"]["connector_thumbprint"]
    assert set(body["app"]) == {"app_id", "name", "legal_name", "verified", "website", "privacy_policy"}
    assert (body["status"], body["export_revision"], body["known_connector_key"]) == ("pending", 1, False)


def test_data_says_that_the_clock_ended_it(owner, person):
    over = ConsentRequestFactory(
        user=person, created_at=now() - timedelta(days=2), expires_at=now() - timedelta(seconds=1)
    )
    assert owner.get(f"/consent/requests/{over.request_id}/data").json()["status"] == "expired"


# --- decision ---------------------------------------------------------------------------------------------------------


def test_approve_keeps_the_sealed_slice_and_answers_the_status(owner, consent_request, vault):
    body = approval_body(consent_request, vault, [CUISINE], access_duration=3600)

    answer = owner.post(_decision(consent_request), body)

    assert (answer.status_code, answer.json()) == (200, _owner_status(consent_request))
    assert answer.json()["status"] == "approved"
    assert answer.json()["grant"]["approved_attributes"] == [CUISINE]
    assert Export.objects.get(grant__request=consent_request).ciphertext == body["jwe"]


def test_deny_keeps_the_note_to_oneself(owner, consent_request):
    answer = owner.post(_decision(consent_request), {"decision": "deny", "reason": "Not today"})

    assert (answer.status_code, answer.json()) == (200, _owner_status(consent_request))
    assert answer.json()["status"] == "denied"
    assert "Not today" not in answer.content.decode()
    assert ConsentRequest.objects.get(pk=consent_request.pk).decision_note == "Not today"


def test_second_decision_meets_the_standing_one(owner, consent_request, vault):
    body = approval_body(consent_request, vault)
    owner.post(_decision(consent_request), {"decision": "deny"})

    problem = _problem(owner.post(_decision(consent_request), body), 409, "already_decided")

    assert problem["request_status"] == "denied"
    assert not Grant.objects.filter(request=consent_request).exists()


def test_decision_after_the_deadline_is_too_late(owner, person):
    over = ConsentRequestFactory(
        user=person, created_at=now() - timedelta(days=2), expires_at=now() - timedelta(seconds=1)
    )
    _problem(owner.post(_decision(over), {"decision": "deny"}), 410, "request_expired")


def test_decision_that_is_neither_is_refused(owner, consent_request):
    problem = _problem(owner.post(_decision(consent_request), {"decision": "maybe"}), 400, "invalid_request")
    assert [error["field"] for error in problem["errors"]] == ["decision"]


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"request_digest": "A" * 43}, 409, "request_changed"),
        ({"access_duration": 299}, 400, "invalid_duration"),
        ({"access_duration": 86401}, 400, "invalid_duration"),
        ({"approved_attributes": ["identity.basic.age"]}, 400, "invalid_attributes"),
        ({"approved_attributes": ["contact.email.email"]}, 400, "invalid_attributes"),
        ({"approved_attributes": []}, 400, "invalid_attributes"),
        ({"sources": []}, 409, "stale_revision"),
        ({"sources": [{"domain": "lifestyle", "segment_id": "food", "content_revision": 2}]}, 409, "stale_revision"),
    ],
)
def test_approval_that_does_not_fit_is_refused_and_changes_nothing(
    owner, consent_request, vault, changes, status, code
):
    _problem(owner.post(_decision(consent_request), {**approval_body(consent_request, vault), **changes}), status, code)
    assert (ConsentRequest.objects.get(pk=consent_request.pk).status, Grant.objects.count()) == ("pending", 0)
    assert not AuditEntry.objects.exists()


def test_approval_without_a_required_attribute_is_refused(owner, person, vault):
    request = ConsentRequestFactory(user=person, required_attributes=[DIET], optional_attributes=[CUISINE])
    answer = owner.post(_decision(request), approval_body(request, vault, [CUISINE]))
    _problem(answer, 400, "required_attribute_missing")
    _problem(
        owner.post(_decision(request), approval_body(request, vault, [DIET]) | {"approved_attributes": []}),
        400,
        "invalid_attributes",
    )
    assert owner.post(_decision(request), approval_body(request, vault, [DIET])).status_code == 200


@pytest.mark.parametrize("member", ["kid", "iss", "sub", "aud", "request_id", "scope", "revision", "request_digest"])
def test_export_sealed_for_something_else_is_refused_by_member(owner, consent_request, vault, member):
    strange = {"revision": 2, "request_digest": "A" * 43, "iss": "https://elsewhere.example"}.get(member, "other")
    body = approval_body(consent_request, vault, header={member: strange})
    assert _problem(owner.post(_decision(consent_request), body), 400, "export_mismatch")["member"] == member


def test_approval_after_the_data_changed_shows_it_first(owner, consent_request, vault):
    body = approval_body(consent_request, vault)
    vault.write("lifestyle", "food", {"diet_preference": "Vegan"}, base=1)
    _problem(owner.post(_decision(consent_request), body), 409, "stale_revision")


SPENDING = {("financial", "signals"): {"spend_bracket": "Middle"}}


def test_restricted_data_needs_a_recent_sign_in(person):
    vault = give_vault(person, SPENDING)
    request = ConsentRequestFactory(user=person, scope="attr.financial.signals.*")
    vouch_for(request)
    body = approval_body(request, vault)

    problem = _problem(
        signed_in(person, seconds_ago=601).post(_decision(request), body), 403, "reauthentication_required"
    )

    assert problem["url"].endswith("/accounts/reauthenticate/")
    assert ConsentRequest.objects.get(pk=request.pk).status == "pending"
    assert signed_in(person).post(_decision(request), body).status_code == 200


def test_refusing_restricted_data_needs_none(person):
    request = ConsentRequestFactory(user=person, scope="attr.financial.signals.*")
    assert signed_in(person, seconds_ago=9999).post(_decision(request), {"decision": "deny"}).status_code == 200


# --- grants -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "move", "after"),
    [
        ("active", "revoke", "revoked"),
        ("paused", "revoke", "revoked"),
        ("active", "pause", "paused"),
        ("paused", "resume", "active"),
    ],
)
def test_grant_moves_and_answers_the_status(owner, person, before, move, after):
    grant = ExportFactory(grant__request__user=person, grant__status=before).grant

    body = {}
    if move == "resume":
        nonce = owner.get(f"/consent/grants/{grant.grant_id}/nonce").json()["nonce"]
        body = resumption(give_vault(person), grant, nonce)
    answer = owner.post(f"/consent/grants/{grant.grant_id}/{move}", body)

    assert (answer.status_code, answer.json()) == (200, _owner_status(grant.request))
    assert answer.json()["grant"]["status"] == after
    assert Export.objects.filter(grant=grant, ciphertext=None).exists() == (after == "revoked")


@pytest.mark.parametrize("move", ["revoke", "pause", "resume"])
def test_ended_grant_does_not_move(owner, person, move):
    grant = GrantFactory(request__user=person, status="released")
    problem = _problem(owner.post(f"/consent/grants/{grant.grant_id}/{move}"), 409, "move_not_allowed")
    assert problem["grant_status"] == "released"


@pytest.fixture
def continuous(person, vault):
    request = ConsentRequestFactory(user=person, status="approved", refresh_policy="continuous")
    grant = GrantFactory(request=request, approved_attributes=[DIET, CUISINE])
    ExportFactory(grant=grant)
    return grant


def test_newer_revision_takes_the_place_of_the_older(owner, continuous, vault):
    body = refreshed(vault, continuous)

    answer = owner.put(f"/consent/grants/{continuous.grant_id}/export", body)

    assert (answer.status_code, answer.json()) == (200, _owner_status(continuous.request))
    assert answer.json()["grant"]["export_revision"] == 2
    kept = Export.objects.filter(grant=continuous).order_by("revision").values_list("revision", "ciphertext")
    assert list(kept) == [(1, None), (2, body["jwe"])]


def test_export_is_outdated_once_its_source_changed(owner, continuous, vault):
    assert owner.get("/consent/grants/outdated").json() == {"grants": []}
    vault.write("lifestyle", "food", {"diet_preference": "Vegan"}, base=1)
    GrantFactory(request__user=vault.user, request__scope="attr.identity.*")  # a snapshot stays as it is

    assert owner.get("/consent/grants/outdated").json() == {
        "grants": [
            {
                "grant_id": continuous.grant_id,
                "request_id": continuous.request.request_id,
                "app_name": continuous.request.app_name,
                "approved_attributes": [DIET, CUISINE],
                "next_revision": 2,
                "renewed": ["Diet", "Favourite cuisine"],
            }
        ]
    }


def test_export_that_is_not_refreshed_is_never_outdated(owner, person, continuous, vault):
    vault.write("lifestyle", "food", {"diet_preference": "Vegan"}, base=1)
    grant_actions.switch_refresh(grant_id=continuous.grant_id, by=person, on=False)
    assert owner.get("/consent/grants/outdated").json() == {"grants": []}
    grant_actions.switch_refresh(grant_id=continuous.grant_id, by=person, on=True)
    assert len(owner.get("/consent/grants/outdated").json()["grants"]) == 1
    grant_actions.pause(grant_id=continuous.grant_id, by=person)
    assert owner.get("/consent/grants/outdated").json() == {"grants": []}


def test_a_paused_approval_gets_no_newer_values(owner, person, continuous, vault):
    grant_actions.pause(grant_id=continuous.grant_id, by=person)
    vault.write("lifestyle", "food", {"diet_preference": "Vegan"}, base=1)

    assert owner.get("/consent/grants/outdated").json() == {"grants": []}
    assert len(owner.get("/consent/grants/outdated?also=current").json()["grants"]) == 1  # it may go on later
    answer = owner.put(f"/consent/grants/{continuous.grant_id}/export", refreshed(vault, continuous))
    assert _problem(answer, 409, "move_not_allowed")["grant_status"] == "paused"
    assert Export.objects.get(grant=continuous).ciphertext


def test_revision_that_is_not_the_next_is_stale(owner, continuous, vault):
    answer = owner.put(f"/consent/grants/{continuous.grant_id}/export", refreshed(vault, continuous, 3))
    _problem(answer, 409, "stale_revision")


def test_snapshot_takes_no_newer_revision(owner, person, vault):
    grant = GrantFactory(request__user=person, approved_attributes=[DIET])
    ExportFactory(grant=grant)
    answer = owner.put(f"/consent/grants/{grant.grant_id}/export", refreshed(vault, grant))
    _problem(answer, 400, "export_mismatch")
