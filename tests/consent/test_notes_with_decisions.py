"""The vault's notes go with a decision, a newer export or an end: kept in its transaction, or neither is."""

import json
from typing import Any

import pytest

from consent.decisions import actions as decision_actions
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.notes import VaultNotes
from tests.callers import JsonClient
from tests.consent.decisions import approval, approval_body, refreshed
from tests.factories import ConsentRequestFactory, Vault
from tests.pkm.sealed_notes import opened_notes, sealed_notes


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, refresh_policy="continuous")
    return made


@pytest.fixture
def grant(consent_request: ConsentRequest, vault: Vault) -> Grant:
    decision_actions.approve(
        request_id=consent_request.request_id, by=vault.user, body=approval(consent_request, vault)
    )
    return Grant.objects.get()


def notes(vault: Vault, base: int = 0, text: str = "a", **header: Any) -> dict[str, Any]:
    return {"jwe": sealed_notes(vault, base + 1, {"said": text}, **header), "base_revision": base}


def kept(vault: Vault) -> list[tuple[int, Any]]:
    return [(row.revision, opened_notes(row.jwe, vault.key.secret)["said"]) for row in VaultNotes.objects.all()]


def problem_of(answer: Any) -> tuple[int, Any, Any]:
    return answer.status_code, answer.json().get("code"), answer.json().get("member")


def test_a_decision_keeps_the_notes_that_come_with_it(
    owner: JsonClient, vault: Vault, consent_request: ConsentRequest
) -> None:
    body = {**approval_body(consent_request, vault), "notes": notes(vault)}

    assert owner.post(f"/consent/requests/{consent_request.request_id}/decision", body).status_code == 200

    assert (Grant.objects.count(), kept(vault)) == (1, [(1, "a")])


@pytest.mark.parametrize(
    ("header", "base", "refusal"),
    [
        ({}, 3, (409, "stale_revision", "notes")),
        ({"kid": "vk_t2zp3gog7m6odtqh"}, 1, (400, "notes_mismatch", "kid")),
    ],
)
def test_a_decision_whose_notes_are_refused_is_none(
    owner: JsonClient, vault: Vault, consent_request: ConsentRequest, header: dict[str, Any], base: int, refusal: Any
) -> None:
    owner.put("/vault/notes", notes(vault, 0, "before"))
    body = {**approval_body(consent_request, vault), "notes": notes(vault, base, **header)}

    refused = owner.post(f"/consent/requests/{consent_request.request_id}/decision", body)

    assert problem_of(refused) == refusal
    consent_request.refresh_from_db()
    assert (consent_request.status, Grant.objects.count(), kept(vault)) == ("pending", 0, [(1, "before")])


def test_notes_of_a_refused_decision_are_not_kept(
    owner: JsonClient, vault: Vault, consent_request: ConsentRequest
) -> None:
    """Else what was refused would stand in the vault as approved."""
    body = {**approval_body(consent_request, vault, request_digest="A" * 43), "notes": notes(vault)}

    assert (
        problem_of(owner.post(f"/consent/requests/{consent_request.request_id}/decision", body))[1] == "request_changed"
    )
    body = {**approval_body(consent_request, vault), "notes": notes(vault), "approval": "no.approval.atall"}
    assert (
        problem_of(owner.post(f"/consent/requests/{consent_request.request_id}/decision", body))[1]
        == "approval_mismatch"
    )

    assert (Grant.objects.count(), kept(vault)) == (0, [])


def test_a_newer_export_keeps_its_notes_or_is_refused_with_them(owner: JsonClient, vault: Vault, grant: Grant) -> None:
    address = f"/consent/grants/{grant.grant_id}/export"
    second = refreshed(vault, grant)

    assert problem_of(owner.put(address, {**second, "notes": notes(vault, 5)})) == (409, "stale_revision", "notes")
    assert (Export.objects.count(), kept(vault)) == (1, [])
    assert owner.put(address, {**second, "notes": notes(vault)}).status_code == 200
    assert problem_of(owner.put(address, {**second, "notes": notes(vault, 1, "b")}))[:2] == (409, "stale_revision")

    assert (Export.objects.count(), kept(vault)) == (2, [(1, "a")])


def test_a_stop_keeps_its_notes_once(owner: JsonClient, vault: Vault, grant: Grant) -> None:
    address = f"/consent/grants/{grant.grant_id}/revoke"

    assert problem_of(owner.post(address, {"notes": notes(vault, 5)})) == (409, "stale_revision", "notes")
    assert Grant.objects.get().status == "active"
    assert owner.post(address, {"notes": notes(vault)}).status_code == 200
    assert owner.post(address, {"notes": notes(vault, 1, "b")}).status_code == 200

    assert (Grant.objects.get().status, kept(vault)) == ("revoked", [(1, "a")])


@pytest.mark.parametrize("button", ["stop", "block", "disconnect"])
@pytest.mark.parametrize(("base", "is_kept"), [(0, True), (5, False)], ids=["fresh", "stale"])
def test_what_stops_all_of_an_app_keeps_the_notes_and_waits_for_none(
    owner: JsonClient, vault: Vault, grant: Grant, button: str, base: int, is_kept: bool
) -> None:
    sent = {"stop": "yes", "notes": json.dumps(notes(vault, base))}

    assert owner.client.post(f"/consent/apps/{grant.app.app_id}/{button}/", sent).status_code == 302

    assert (Grant.objects.get().status, kept(vault)) == ("revoked", [(1, "a")] if is_kept else [])


def test_a_block_that_stops_nothing_keeps_no_notes(owner: JsonClient, vault: Vault, grant: Grant) -> None:
    owner.client.post(f"/consent/apps/{grant.app.app_id}/block/", {"notes": json.dumps(notes(vault))})

    assert (Grant.objects.get().status, kept(vault)) == ("active", [])


def test_a_stop_needs_no_notes_and_a_pause_takes_none(owner: JsonClient, vault: Vault, grant: Grant) -> None:
    refused = owner.post(f"/consent/grants/{grant.grant_id}/pause", {"notes": notes(vault)})
    assert problem_of(refused)[1] == "invalid_request"

    assert owner.post(f"/consent/grants/{grant.grant_id}/revoke", {}).status_code == 200
    assert (Grant.objects.get().status, kept(vault)) == ("revoked", [])
