"""One decision wins, and it is about exactly what was asked."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from common.problems import Problem
from consent.decisions import actions as decision_actions
from consent.decisions import expiry
from consent.errors import (
    AlreadyDecided,
    AuditUnavailable,
    ExportMismatch,
    InvalidAttributes,
    InvalidDuration,
    RequestChanged,
    RequestExpired,
    RequiredAttributeMissing,
    UnknownRequest,
)
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditEntry, AuditFacts, Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.status_queries import status_body
from pkm.errors import QuotaExceeded, StaleRevision
from tests.consent.decisions import approval
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, PersonFactory, Vault, give_vault
from tests.factories.asked import now

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


@pytest.fixture
def request_(db: None) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory()
    return made


@pytest.fixture
def vault(request_: ConsentRequest) -> Vault:
    return give_vault(request_.user)


def status(request: ConsentRequest) -> dict[str, Any]:
    return status_body(app_pk=request.app_id, request_id=request.request_id)


def test_approve_gives_the_grant_its_export_receipt_audit_and_notice(request_: ConsentRequest, vault: Vault) -> None:
    body = approval(request_, vault, [CUISINE], access_duration=600)

    decision_actions.approve(request_id=request_.request_id, by=request_.user, body=body)

    grant = Grant.objects.get(request=request_)
    assert (grant.status, grant.approved_attributes) == ("active", [CUISINE])
    assert grant.expires_at - grant.starts_at == timedelta(seconds=600)
    assert Export.objects.get(grant=grant).ciphertext == body.jwe
    assert Receipt.objects.get(request=request_).event == "approved"
    chains = {f"person:{request_.user.public_id}", f"app:{request_.app.app_id}"}
    assert [list(AuditEntry.objects.of(chain).values_list("kind", flat=True)) for chain in chains] == [["approved"]] * 2
    assert AuditEntry.objects.count() == 2
    told = status(request_)
    assert told == Notice.objects.get(request=request_).facts
    assert told["status"] == "approved"
    assert told["sequence"] == 1
    assert told["grant"]["approved_attributes"] == [CUISINE]
    assert list(verifying.verify()) == []


def test_deny_leaves_no_grant_and_tells_nobody_the_reason(request_: ConsentRequest, vault: Vault) -> None:
    decision_actions.deny(request_id=request_.request_id, by=request_.user, reason="I do not know them")

    assert not Grant.objects.exists()
    assert status(request_)["status"] == "denied"
    told = [*Notice.objects.values_list("facts", flat=True), *AuditFacts.objects.values_list("facts", flat=True)]
    assert "do not know" not in str(told)
    assert ConsentRequest.objects.get().decision_note == "I do not know them"


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"request_digest": "A" * 43}, RequestChanged),
        ({"access_duration": 299}, InvalidDuration),
        ({"access_duration": 86401}, InvalidDuration),
        ({"approved_attributes": []}, InvalidAttributes),
        ({"approved_attributes": ["contact.email.email"]}, InvalidAttributes),
        ({"sources": []}, StaleRevision),
        ({"sources": [{"domain": "lifestyle", "segment_id": "food", "content_revision": 2}]}, StaleRevision),
    ],
)
def test_a_decision_that_does_not_fit_changes_nothing(
    request_: ConsentRequest, vault: Vault, changes: dict[str, Any], refusal: type[Problem]
) -> None:
    body = approval(request_, vault, **changes)

    with pytest.raises(refusal):
        decision_actions.approve(request_id=request_.request_id, by=request_.user, body=body)

    assert status(request_)["status"] == "pending"
    assert not Grant.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("kid", "another"),
        ("iss", "https://elsewhere.example"),
        ("sub", "usr_somebody_else"),
        ("aud", "app_another"),
        ("request_id", "req_another"),
        ("scope", "attr.lifestyle.*"),
        ("revision", 2),
        ("request_digest", "A" * 43),
    ],
)
def test_an_export_for_something_else_is_refused_by_the_member(
    request_: ConsentRequest, vault: Vault, member: str, value: Any
) -> None:
    body = approval(request_, vault, header={member: value})

    with pytest.raises(ExportMismatch) as refused:
        decision_actions.approve(request_id=request_.request_id, by=request_.user, body=body)

    assert refused.value.members == {"member": member}


def test_a_required_attribute_must_be_approved(db: None) -> None:
    request = ConsentRequestFactory(required_attributes=[DIET], optional_attributes=[CUISINE])
    vault = give_vault(request.user)

    with pytest.raises(RequiredAttributeMissing):
        decision_actions.approve(
            request_id=request.request_id, by=request.user, body=approval(request, vault, [CUISINE])
        )

    decision_actions.approve(request_id=request.request_id, by=request.user, body=approval(request, vault, [DIET]))


def test_an_attribute_that_the_lists_leave_out_is_outside(db: None) -> None:
    request = ConsentRequestFactory(required_attributes=[DIET])
    vault = give_vault(request.user)

    with pytest.raises(InvalidAttributes):
        decision_actions.approve(
            request_id=request.request_id, by=request.user, body=approval(request, vault, [DIET, CUISINE])
        )


def test_an_attribute_of_ones_own_is_covered_by_the_segments_scope(db: None) -> None:
    request = ConsentRequestFactory()
    vault = give_vault(request.user, {("lifestyle", "food"): {"favorite_cuisine": "Thai", "allergies": "nuts"}})

    body = approval(request, vault, ["lifestyle.food.allergies"])
    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert Grant.objects.get().approved_attributes == ["lifestyle.food.allergies"]


def test_a_second_decision_hears_the_first(request_: ConsentRequest, vault: Vault) -> None:
    decision_actions.deny(request_id=request_.request_id, by=request_.user)

    with pytest.raises(AlreadyDecided) as refused:
        decision_actions.approve(request_id=request_.request_id, by=request_.user, body=approval(request_, vault))

    assert refused.value.members == {"request_status": "denied"}


def test_what_expired_cannot_be_decided(db: None) -> None:
    asked = now() - timedelta(days=2)
    request = ConsentRequestFactory(created_at=asked, expires_at=asked + timedelta(days=1))

    with pytest.raises(RequestExpired):
        decision_actions.deny(request_id=request.request_id, by=request.user)

    assert status(request)["status"] == "expired"
    assert expiry.write_down_expiry() == 1
    assert expiry.write_down_expiry() == 0
    assert ConsentRequest.objects.get().status == "expired"
    assert Receipt.objects.get().event == "expired"


def test_another_persons_request_is_unknown(request_: ConsentRequest, vault: Vault) -> None:
    with pytest.raises(UnknownRequest):
        decision_actions.deny(request_id=request_.request_id, by=PersonFactory())


def test_a_new_approval_supersedes_the_older_grant(db: None) -> None:
    older = GrantFactory()
    request = ConsentRequestFactory(app=older.app, user=older.user)
    vault = give_vault(request.user)

    decision_actions.approve(request_id=request.request_id, by=request.user, body=approval(request, vault))

    older.refresh_from_db()
    assert (older.status, older.ended_by) == ("superseded", "system")
    assert list(Notice.objects.order_by("sequence").values_list("kind", flat=True)) == [
        "consent.superseded",
        "consent.approved",
    ]


def test_a_copy_that_does_not_fit_beside_the_others_is_refused(db: None, settings: Any) -> None:
    held = ExportFactory(size_bytes=5_000)
    request = ConsentRequestFactory(user=held.grant.user)
    body = approval(request, give_vault(request.user))
    settings.COPIES_BYTES_PER_PERSON = 5_000 + len(body.jwe) - 1

    with pytest.raises(QuotaExceeded) as refused:
        decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert status(request)["status"] == "pending"
    assert refused.value.members == {"used_bytes": 5_000, "quota_bytes": 5_000 + len(body.jwe) - 1}
    grant_actions.revoke(grant_id=held.grant.grant_id, by=request.user)
    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)
    assert status(request)["status"] == "approved"


def test_an_export_takes_the_place_of_the_one_that_it_refreshes(db: None, settings: Any) -> None:
    held = ExportFactory(size_bytes=5_000)
    request = ConsentRequestFactory(app=held.grant.app, user=held.grant.user)
    body = approval(request, give_vault(request.user))
    settings.COPIES_BYTES_PER_PERSON = len(body.jwe)

    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert status(request)["status"] == "approved"


def test_an_audit_entry_that_cannot_be_written_stops_the_decision(request_: ConsentRequest, vault: Vault) -> None:
    body = approval(request_, vault)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE consent_audit ADD CONSTRAINT broken CHECK (sequence < 0) NOT VALID")
        else:
            cursor.execute(
                "CREATE TRIGGER broken BEFORE INSERT ON consent_audit BEGIN SELECT RAISE(ABORT, 'disk full'); END"
            )

    with pytest.raises(AuditUnavailable):
        decision_actions.approve(request_id=request_.request_id, by=request_.user, body=body)

    assert status(request_)["status"] == "pending"
    assert not Grant.objects.exists()
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.execute("DROP TRIGGER broken")
