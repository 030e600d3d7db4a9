"""Every end: whoever causes it, the ciphertext goes, and everybody is told once."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from accounts.models import User
from consent.approvals import actions as approval_actions
from consent.decisions import actions as decision_actions
from consent.decisions import expiry
from consent.errors import MoveNotAllowed, UnknownRequest
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditEntry, Receipt
from consent.notices.models import Notice
from consent.requests import actions as request_actions
from consent.requests.models import ConsentRequest
from consent.schemas import ResumeBody
from tests.consent.decisions import resumption
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, StaffFactory, give_vault
from tests.factories.consent_requests import now


def revoke(grant: Grant) -> object:
    return grant_actions.revoke(grant_id=grant.grant_id, by=grant.user)


def release(grant: Grant) -> object:
    return decision_actions.end_consent(app_pk=grant.app_id, request_id=grant.request.request_id)


def terminate(grant: Grant) -> object:
    return grant_actions.terminate(grant_id=grant.grant_id, by=StaffFactory(), reason="fraud")


@pytest.mark.parametrize(
    ("end", "state", "by"),
    [(revoke, "revoked", "person"), (release, "released", "app"), (terminate, "terminated", "staff")],
)
@pytest.mark.parametrize("before", ["active", "paused"])
def test_an_end_deletes_the_ciphertext_and_tells(
    db: None, end: Callable[[Grant], object], state: str, by: str, before: str
) -> None:
    grant = ExportFactory(grant__status=before).grant

    end(grant)

    grant.refresh_from_db()
    assert (grant.status, grant.ended_by) == (state, by)
    assert Export.objects.get().ciphertext is None
    assert Receipt.objects.get().event == state
    assert Notice.objects.get().kind == f"consent.{state}"
    assert AuditEntry.objects.filter(kind=state).count() == 2
    assert list(verifying.verify()) == []


def test_ending_twice_is_ending_once(db: None) -> None:
    grant = ExportFactory().grant

    release(grant)
    release(grant)
    with pytest.raises(MoveNotAllowed) as refused:
        revoke(grant)

    assert refused.value.members == {"grant_status": "released"}
    assert Notice.objects.count() == 1


def test_stopping_twice_is_no_error(db: None) -> None:
    grant = ExportFactory().grant

    revoke(grant)
    revoke(grant)

    assert Notice.objects.count() == 1


def test_a_pending_request_is_cancelled_by_its_app_alone(db: None) -> None:
    request, other = ConsentRequestFactory(), ConsentRequestFactory()

    with pytest.raises(UnknownRequest):
        decision_actions.end_consent(app_pk=other.app_id, request_id=request.request_id)
    decision_actions.end_consent(app_pk=request.app_id, request_id=request.request_id)

    assert ConsentRequest.objects.get(pk=request.pk).status == "cancelled"
    assert Receipt.objects.get().event == "cancelled"


def test_pause_and_resume_keep_the_ciphertext_and_give_no_receipt(db: None) -> None:
    export = ExportFactory()
    grant = export.grant

    grant_actions.pause(grant_id=grant.grant_id, by=grant.user)
    grant_actions.pause(grant_id=grant.grant_id, by=grant.user)
    grant.refresh_from_db()
    assert grant.status == "paused"
    nonce = approval_actions.give_nonce(grant_id=grant.grant_id, by=grant.user)
    body = ResumeBody.model_validate(resumption(give_vault(grant.user), grant, nonce))
    approval_actions.resume(grant_id=grant.grant_id, by=grant.user, body=body)

    grant.refresh_from_db()
    assert grant.status == "active"
    assert Export.objects.get().ciphertext == export.ciphertext
    assert list(Notice.objects.order_by("sequence").values_list("kind", flat=True)) == [
        "consent.paused",
        "consent.resumed",
    ]
    assert not Receipt.objects.exists()


def resume_unsigned(*, grant_id: str, by: User) -> str:
    return approval_actions.resume(grant_id=grant_id, by=by, body=ResumeBody())


@pytest.mark.parametrize("move", [grant_actions.revoke, grant_actions.pause, resume_unsigned])
def test_what_the_clock_ended_cannot_be_moved(db: None, move: Callable[..., object]) -> None:
    started = now() - timedelta(days=2)
    grant = GrantFactory(starts_at=started, expires_at=started + timedelta(days=1))

    with pytest.raises(MoveNotAllowed) as refused:
        move(grant_id=grant.grant_id, by=grant.user)

    assert refused.value.members == {"grant_status": "expired"}


def test_expiry_is_written_down_once_and_deletes_the_ciphertext(db: None) -> None:
    started = now() - timedelta(days=2)
    grant = ExportFactory(grant__starts_at=started, grant__expires_at=started + timedelta(days=1)).grant

    assert expiry.write_down_expiry() == 1
    assert expiry.write_down_expiry() == 0

    grant.refresh_from_db()
    assert (grant.status, grant.ended_by) == ("expired", "system")
    assert Export.objects.get().ciphertext is None


def test_a_changed_scope_cancels_what_waits_on_it(db: None) -> None:
    request, other = ConsentRequestFactory(), ConsentRequestFactory(scope="attr.contact.email.*")

    assert request_actions.cancel_requests_of_entry(entry_pk=request.scope_entry_id, by=StaffFactory()) == 1

    statuses = dict(ConsentRequest.objects.values_list("pk", "status"))
    assert statuses == {request.pk: "cancelled", other.pk: "pending"}
