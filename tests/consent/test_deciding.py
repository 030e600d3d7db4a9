"""One decision wins, and it is about exactly what was asked."""

from datetime import timedelta
from typing import Any

import pytest

from consent.decisions import actions as decision_actions
from consent.errors import (
    InvalidAttributes,
)
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditEntry, AuditFacts, Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.status import for_app
from pkm.errors import QuotaExceeded
from tests.consent.decisions import approval
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, Vault, give_vault
from tests.refused import refused_as

CUISINE, DIET = "lifestyle.food.favorite_cuisine", "lifestyle.food.diet_preference"


@pytest.fixture
def request_(db: None) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory()
    return made


@pytest.fixture
def vault(request_: ConsentRequest) -> Vault:
    return give_vault(request_.user)


def status(request: ConsentRequest) -> dict[str, Any]:
    return for_app(app_pk=request.app_id, request_id=request.request_id)


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
    answer = status(request_)
    assert answer == Notice.objects.get(request=request_).facts
    assert answer["status"] == "approved"
    assert answer["sequence"] == 1
    assert answer["grant"]["approved_attributes"] == [CUISINE]
    assert list(verifying.verify()) == []


def test_deny_leaves_no_grant_and_tells_nobody_the_reason(request_: ConsentRequest, vault: Vault) -> None:
    decision_actions.deny(request_id=request_.request_id, by=request_.user, reason="I do not know them")

    assert not Grant.objects.exists()
    assert status(request_)["status"] == "denied"
    facts = [*Notice.objects.values_list("facts", flat=True), *AuditFacts.objects.values_list("facts", flat=True)]
    assert "do not know" not in str(facts)
    assert ConsentRequest.objects.get().decision_note == "I do not know them"


def test_an_attribute_that_the_lists_leave_out_is_outside(db: None) -> None:
    request = ConsentRequestFactory(required_attributes=[DIET])
    vault = give_vault(request.user)

    with refused_as(InvalidAttributes):
        decision_actions.approve(
            request_id=request.request_id, by=request.user, body=approval(request, vault, [DIET, CUISINE])
        )


def test_an_attribute_of_ones_own_is_covered_by_the_segments_scope(db: None) -> None:
    request = ConsentRequestFactory()
    vault = give_vault(request.user, {("lifestyle", "food"): {"favorite_cuisine": "Thai", "allergies": "nuts"}})

    body = approval(request, vault, ["lifestyle.food.allergies"])
    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert Grant.objects.get().approved_attributes == ["lifestyle.food.allergies"]


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
    export = ExportFactory(size_bytes=5_000)
    request = ConsentRequestFactory(user=export.grant.user)
    body = approval(request, give_vault(request.user))
    settings.COPIES_BYTES_PER_PERSON = 5_000 + len(body.jwe) - 1

    with refused_as(QuotaExceeded) as refused:
        decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert status(request)["status"] == "pending"
    assert refused.value.members == {"used_bytes": 5_000, "quota_bytes": 5_000 + len(body.jwe) - 1}
    grant_actions.revoke(grant_id=export.grant.grant_id, by=request.user)
    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)
    assert status(request)["status"] == "approved"


def test_an_export_takes_the_place_of_the_one_that_it_refreshes(db: None, settings: Any) -> None:
    export = ExportFactory(size_bytes=5_000)
    request = ConsentRequestFactory(app=export.grant.app, user=export.grant.user)
    body = approval(request, give_vault(request.user))
    settings.COPIES_BYTES_PER_PERSON = len(body.jwe)

    decision_actions.approve(request_id=request.request_id, by=request.user, body=body)

    assert status(request)["status"] == "approved"
