"""Receipts as linked data: another's JSON-LD library reads out of it what was signed, and needs no network for it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyld import jsonld

from accounts.models import User
from common.clock import rfc3339
from consent.decisions import actions as decision_actions
from consent.ledger import receipts
from consent.ledger.models import Receipt
from consent.requests.models import ConsentRequest
from consent.requests.receipt_claims import RIGHTS
from consent.requests.receipt_jsonld import as_jsonld
from tests.callers import Developer, signed_in
from tests.consent.api.addresses import problem
from tests.consent.decisions import approval
from tests.factories import ConsentRequestFactory, ReceiptFactory, give_vault

DPV, GDPR, DCT = "https://w3id.org/dpv#", "https://w3id.org/dpv/legal/eu/gdpr#", "http://purl.org/dc/terms/"
HANDLING = {
    "recipients": "Our kitchen in Turku.",
    "storage": {"location": "Frankfurt, Germany", "retention": "30 days after the last visit"},
    "jurisdiction": "Finland",
}
pytestmark = pytest.mark.django_db


@pytest.fixture
def approved() -> ConsentRequest:
    request: ConsentRequest = ConsentRequestFactory(user__language="de", handling=HANDLING)
    vault = give_vault(request.user)
    decision_actions.approve(request_id=request.request_id, by=request.user, body=approval(request, vault))
    return request


def signed_claims(request: ConsentRequest) -> dict[str, Any]:
    claims = receipts.verified(Receipt.objects.get(request=request).jws)
    assert claims is not None
    return claims


def expanded(document: dict[str, Any]) -> dict[str, Any]:
    """The one node of a document, by a processor that may load nothing."""

    def nothing(address: str, options: object) -> Any:
        raise AssertionError(f"{address} would be fetched")

    (node,) = jsonld.expand(document, {"documentLoader": nothing})
    found: dict[str, Any] = node
    return found


def value(node: dict[str, Any], *path: str) -> Any:
    """The one value at the end of a path of terms."""
    for term in path:
        (node,) = node[term]
    return node.get("@value", node.get("@id"))


def test_receipts_carry_the_members_of_the_standard(approved: ConsentRequest) -> None:
    claims = signed_claims(approved)

    named = {name: claims[name] for name in ("schema_version", "lawful_basis", "rights", "notice", *HANDLING)}
    assert named == {
        "schema_version": "1.1",
        "lawful_basis": "consent",
        "rights": ["withdraw_consent", "access", "erasure", "portability", "complaint"],
        "notice": {"version": "2026-11", "language": "de"},
        **HANDLING,
    }
    assert claims["withdrawal_method"].endswith("/consent/apps/")
    assert set(claims["pii_controller"]) == {"name", "app_id", "contact", "privacy_policy"}


def test_another_library_reads_out_of_it_what_was_signed(approved: ConsentRequest) -> None:
    claims = signed_claims(approved)
    node, own = expanded(as_jsonld(claims)), f"{claims['iss']}/docs/glossary#"

    assert node["@type"] == [f"{DPV}ConsentReceipt"]
    controller = f"{DPV}hasDataController"
    assert {
        "schema_version": value(node, f"{DCT}hasVersion"),
        "record_id": value(node, f"{DCT}isPartOf", f"{DCT}identifier"),
        "receipt_id": value(node, f"{DCT}identifier"),
        "pii_principal_id": value(node, f"{DPV}hasDataSubject", f"{DCT}identifier"),
        "pii_controller": {
            "name": value(node, controller, f"{DPV}hasName"),
            "app_id": value(node, controller, f"{DCT}identifier"),
            "contact": value(node, controller, f"{DPV}hasContact"),
            "privacy_policy": value(node, controller, f"{DPV}hasNotice", f"{DCT}source"),
        },
        "purpose": value(node, f"{DPV}hasPurpose", f"{DCT}description"),
        "pii_types": [value(each, f"{DCT}identifier") for each in node[f"{DPV}hasPersonalData"]],
        "sensitivity": value(node, f"{DPV}hasSensitivityLevel", f"{DCT}identifier"),
        "retention": {
            "access_duration": int(value(node, f"{DPV}hasDuration")),
            "expires_at": value(node, f"{DCT}valid"),
        },
        "event": {
            "type": value(node, f"{own}event"),
            "state": value(node, f"{own}state"),
            "time": value(node, f"{DPV}isIndicatedAtTime"),
        },
        "lawful_basis": value(node, f"{DPV}hasLegalBasis").removeprefix(DPV).lower(),
        "rights": [each["@id"] for each in node[f"{DPV}hasRight"]],
        "notice": {
            "version": value(node, f"{DPV}hasNotice", f"{DCT}hasVersion"),
            "language": value(node, f"{DPV}hasNotice", f"{DCT}language"),
        },
        "recipients": value(node, f"{DPV}hasRecipient", f"{DCT}description"),
        "storage": {
            "location": value(node, f"{DPV}hasStorageCondition", f"{DPV}hasLocation"),
            "retention": value(node, f"{DPV}hasStorageCondition", f"{DPV}hasDuration"),
        },
        "jurisdiction": value(node, f"{DPV}hasJurisdiction"),
        "withdrawal_method": value(node, f"{DPV}hasConsentControl", f"{DPV}isExercisedAt"),
        "request_digest": value(node, f"{own}request_digest"),
        "connector_fingerprint": value(node, f"{own}connector_fingerprint"),
        "approval_sha256": value(node, f"{own}approval_sha256"),
        "iss": value(node, f"{DCT}publisher"),
        "iat": value(node, f"{DCT}issued"),
        "audit": {name: value(node, f"{own}audit", f"{own}{name}") for name in claims["audit"]},
    } == {
        **claims,
        "iat": rfc3339(datetime.fromtimestamp(claims["iat"], UTC)),
        "rights": [f"{GDPR}{article}" for article in ("A7-3", "A15", "A17", "A20", "A77")],
    }
    assert value(node, f"{DPV}hasConsentStatus") == f"{DPV}ConsentGiven"


@pytest.mark.parametrize("member", ["recipients", "storage", "jurisdiction"])
def test_what_a_receipt_does_not_say_is_left_out(approved: ConsentRequest, member: str) -> None:
    claims = signed_claims(approved)
    whole = expanded(as_jsonld(claims))
    del claims[member]

    assert len(expanded(as_jsonld(claims))) == len(whole) - 1


def test_a_denial_was_given_nothing(db: None) -> None:
    request = ConsentRequestFactory()
    decision_actions.deny(request_id=request.request_id, by=request.user)
    node = expanded(as_jsonld(signed_claims(request)))

    assert value(node, f"{DPV}hasConsentStatus") == f"{DPV}ConsentRefused"
    assert f"{DCT}valid" not in node
    assert len(node[f"{DPV}hasRight"]) == len(RIGHTS)


# --- The app's address ------------------------------------------------------------------------------------------------
def test_an_app_gets_its_copy_as_linked_data(approved: ConsentRequest) -> None:
    receipt, api = approved.receipts.get(), Developer.of(approved.app)

    answer = api.get(f"/receipts/{receipt.receipt_id}", format="jsonld")

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/ld+json")
    assert answer.json() == as_jsonld(api.get(f"/receipts/{receipt.receipt_id}").json()["claims"])
    linked, person = answer.json()["own:audit"], signed_claims(approved)["audit"]
    assert (set(linked), linked["own:chain"] == person["chain"]) == ({f"own:{name}" for name in person}, False)


def test_another_apps_receipt_has_no_form(api: Developer) -> None:
    answer = api.get(f"/receipts/{ReceiptFactory().receipt_id}", format="jsonld")

    assert problem(answer) == (404, "unknown_receipt")


@pytest.mark.parametrize(
    "query", ["format=turtle", "format=", "format=jsonld&format=jsonld", "form=jsonld", "proof=0", "proof="]
)
def test_another_format_is_refused(api: Developer, query: str) -> None:
    made = ReceiptFactory(request__app=api.app)

    assert problem(api.get(f"/receipts/{made.receipt_id}?{query}")) == (400, "invalid_request")


@pytest.mark.parametrize("query", ["proof=1&format=jsonld", "format=jsonld&proof=1"])
def test_a_proof_comes_with_the_signed_form_alone(api: Developer, query: str) -> None:
    made = ReceiptFactory(request__app=api.app)

    answer = api.get(f"/receipts/{made.receipt_id}?{query}")

    assert problem(answer) == (400, "invalid_request")
    assert "leave out one of format and proof" in answer.content.decode()


# --- The person's page ------------------------------------------------------------------------------------------------
def test_a_person_keeps_their_own_copy_as_linked_data(approved: ConsentRequest) -> None:
    receipt = approved.receipts.get()
    user: User = approved.user

    answer = signed_in(user).get(f"/consent/receipts/{receipt.receipt_id}/linked-data/")

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/ld+json")
    assert answer["Content-Disposition"] == f'attachment; filename="{receipt.receipt_id}.jsonld"'
    assert answer.json() == as_jsonld(signed_claims(approved))
    page = signed_in(user).get(f"/consent/receipts/{receipt.receipt_id}/").content.decode()
    assert "to complain to an authority" in page
    assert "Version 2026-11 (German)" in page
