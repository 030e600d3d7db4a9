"""The audit cannot be written: nobody reads or is let in, and everybody can stop, pause and deny (decision 0016)."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps, expiry
from consent.decisions.models import AppReport, BlockedApp
from consent.errors import AuditUnavailable
from consent.exports.models import Export, Read
from consent.exports.read_batches import chain_pending_reads
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditPending, Receipt
from consent.ledger.pending import verify_pending, write_pending_entries
from consent.ledger.queries import receipt_for_owner
from consent.notices.models import Notice
from consent.requests import actions as request_actions
from consent.requests.models import ConsentRequest
from tests.callers import Developer, JsonClient
from tests.chains import entries_about, holds, kinds_of
from tests.consent.broken_audit import audit_away
from tests.consent.decisions import approval_body, resumption
from tests.factories import ConsentRequestFactory, ExportFactory, StaffFactory, Vault

# each call commits as it does in a deployment: a statement that fails by itself leaves no broken transaction behind
pytestmark = [pytest.mark.django_db(transaction=True)]  # a statement that PostgreSQL refuses ends its transaction


def status(api: Developer, request: ConsentRequest) -> dict[str, Any]:
    body: dict[str, Any] = api.get("/consent-status", request_id=request.request_id).json()
    return body


# --- What gives access ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"Accept": "application/jose"}, {"Idempotency-Key": "k1"}])
@pytest.mark.parametrize("max_reads", [None, 1, 5])
@pytest.mark.parametrize("chained", [True, False])
def test_nothing_is_handed_out_that_cannot_be_written_down(
    api: Developer, person: User, headers: dict[str, str], max_reads: int | None, chained: bool
) -> None:
    export = ExportFactory(
        grant__request__app=api.app, grant__request__user=person, grant__request__max_reads=max_reads,
        grant__max_reads=max_reads,
    )  # fmt: skip
    if chained:
        audit.append(chain=f"person:{person.public_id}", kind="approved", actor="person", at=timezone.now(), facts={})
    address = f"/consent-export?request_id={export.grant.request.request_id}"

    with audit_away():
        refused = [api.get(address, headers=headers) for _ in range(2)]

    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (503, "temporarily_unavailable")
        assert int(answer["Retry-After"]) > 0
        assert export.ciphertext not in answer.content.decode()
    assert not Read.objects.exists()
    assert Grant.objects.get(pk=export.grant_id).reads == 0
    entries = AuditEntry.objects.count()
    assert api.get(address, headers=headers).status_code == 200
    assert AuditEntry.objects.count() - entries == (2 if max_reads == 1 else 0)  # exhausted: trying leaves nothing


def test_a_read_that_was_written_down_is_not_repeated_while_the_audit_is_away(api: Developer, grant: Grant) -> None:
    address, key = f"/consent-export?request_id={grant.request.request_id}", {"Idempotency-Key": "k1"}
    first = api.get(address, headers=key)

    with audit_away():
        assert api.get(address, headers=key).status_code == 503
        unchanged = api.get(address, headers={"If-None-Match": first["ETag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert api.get(address, headers=key).content == first.content


def test_approving_is_refused_and_the_request_goes_on_waiting(
    api: Developer, owner: JsonClient, person: User, vault: Vault
) -> None:
    request = ConsentRequestFactory(app=api.app, user=person)
    decision = f"/consent/requests/{request.request_id}/decision"

    with audit_away():
        answer = owner.post(decision, approval_body(request, vault))

    assert (answer.status_code, answer.json()["code"]) == (503, "temporarily_unavailable")
    assert status(api, request)["status"] == "pending"
    assert not Grant.objects.exists()
    assert owner.post(decision, approval_body(request, vault)).status_code == 200


def test_resuming_unblocking_and_refreshing_are_refused(
    api: Developer, owner: JsonClient, grant: Grant, vault: Vault
) -> None:
    grant_actions.pause(grant_id=grant.grant_id, by=grant.user)
    blocked_apps.block_app(app_id=api.app.app_id, by=grant.user, stop=False)
    body = resumption(vault, grant, owner.get(f"/consent/grants/{grant.grant_id}/nonce").json()["nonce"])

    with audit_away():
        assert owner.post(f"/consent/grants/{grant.grant_id}/resume", body).status_code == 503
        shown = owner.client.post(f"/consent/apps/{api.app.app_id}/unblock/", follow=True).content.decode()

    assert "Your history cannot be written just now, so nothing was changed." in shown
    assert Grant.objects.get().status == "paused"
    assert BlockedApp.objects.exists()


# --- What protects ----------------------------------------------------------------------------------------------------


def revoke(owner: JsonClient, grant: Grant) -> Any:
    return owner.post(f"/consent/grants/{grant.grant_id}/revoke")


def pause(owner: JsonClient, grant: Grant) -> Any:
    return owner.post(f"/consent/grants/{grant.grant_id}/pause")


@pytest.mark.parametrize(
    ("act", "state", "refusal"), [(revoke, "revoked", (410, "grant_ended")), (pause, "paused", (403, "grant_paused"))]
)
def test_stopping_and_pausing_take_effect_at_once_and_are_written_later(
    api: Developer, owner: JsonClient, grant: Grant, act: Callable[..., Any], state: str, refusal: tuple[int, str]
) -> None:
    approved = status(api, grant.request)["receipt_id"]
    with audit_away():
        answer = act(owner, grant)
        export = api.get(f"/consent-export?request_id={grant.request.request_id}")
        body = status(api, grant.request)

        assert answer.status_code == 200
        assert answer.json() == body
        assert (body["grant"]["status"], body["sequence"]) == (state, 2)
        assert body["receipt_id"] == (None if state == "revoked" else approved)
        assert (export.status_code, export.json()["code"]) == refusal
        assert Notice.objects.get(sequence=2).facts == body
        assert AuditPending.objects.count() == 2
        assert write_pending_entries() == 0  # it is still away
    assert Export.objects.filter(ciphertext__isnull=False).exists() == (state == "paused")

    assert write_pending_entries() == 2
    assert write_pending_entries() == 0

    assert kinds_of(grant.request, "person:") == kinds_of(grant.request, "app:") == ["approved", state]
    entries = AuditEntry.objects.filter(kind=state)
    assert all(entry.facts["written_at"] and entry.actor == "person" for entry in entries)
    after = status(api, grant.request)
    assert {**after, "receipt_id": None} == {**body, "receipt_id": None}
    if state == "revoked":
        receipt = receipt_for_owner(user=grant.user, receipt_id=after["receipt_id"])["claims"]
        entry = (entries & entries_about("person:")).get()
        assert receipt["event"]["type"] == entry.kind
        assert receipt["audit"] == {
            "chain": entry.chain, "sequence": entry.sequence, "entry_hash": entry.entry_hash,
        }  # fmt: skip
        assert entry.facts["receipt_id"] == after["receipt_id"]
        assert api.get(f"/receipts/{after['receipt_id']}").status_code == 200
    assert holds()


def test_denying_takes_effect_at_once_and_is_written_later(api: Developer, owner: JsonClient, person: User) -> None:
    request = ConsentRequestFactory(app=api.app, user=person)
    with audit_away():
        answer = owner.post(f"/consent/requests/{request.request_id}/decision", {"decision": "deny"})

        assert (answer.status_code, answer.json()["status"], answer.json()["receipt_id"]) == (200, "denied", None)
        assert status(api, request) == answer.json()
        page = owner.get(f"/consent/requests/{request.request_id}/").content.decode()
        assert "You denied this" in page
        assert "The entry in your history and the receipt will follow." in page
        assert "1 entry will follow" in owner.get("/consent/history/").content.decode()

    write_pending_entries()

    assert "will follow" not in owner.get(f"/consent/requests/{request.request_id}/").content.decode()
    shown = owner.get("/consent/history/").content.decode()
    assert "will follow" not in shown
    assert "You denied" in shown
    assert status(api, request)["receipt_id"] == Receipt.objects.get().receipt_id
    assert holds()


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("grants/{grant}/stop/", "Sharing has stopped. The entry in your history will follow."),
        ("grants/{grant}/pause/", "Nothing can be read until you resume. The entry in your history will follow."),
        ("apps/{app}/stop/", "The entries in your history will follow."),
        ("apps/{app}/block/", "The entries in your history will follow."),
    ],
)
def test_the_page_says_that_the_entry_follows(owner: JsonClient, grant: Grant, form: str, message: str) -> None:
    address = "/consent/" + form.format(grant=grant.grant_id, app=grant.app.app_id)

    with audit_away():
        answer = owner.client.post(address, {"stop": "yes"}, follow=True)

    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert Grant.objects.get().status == ("paused" if "pause" in form else "revoked")
    write_pending_entries()
    assert not AuditPending.objects.exists()
    assert holds()


def test_every_other_end_takes_place_as_well(api: Developer, person: User, grant: Grant) -> None:
    """The app's own, staff's, the clock's, and what a changed scope cancels; a report, a refused refresh too."""
    released, terminated = ExportFactory(grant__request__app=api.app).grant, ExportFactory().grant
    over = ExportFactory(grant__starts_at=timezone.now() - timedelta(days=2)).grant
    cancelled, changed = ConsentRequestFactory(app=api.app), ConsentRequestFactory(app=api.app, user=person)
    kept = ExportFactory(grant__request__user=person, grant__request__refresh_policy="continuous").grant
    staff = StaffFactory()

    with audit_away("consent_audit", "consent_audit_heads", "consent_receipts"):
        for request in (released.request, cancelled):
            assert api.post("/end-consent", {"request_id": request.request_id}).status_code == 200
        assert grant_actions.terminate(grant_id=terminated.grant_id, by=staff, reason="fraud")
        assert expiry.write_down_expiry() == 1
        assert request_actions.cancel_requests_of_app(app_pk=api.app.pk, by=staff) == 1
        blocked_apps.report_app(app_id=api.app.app_id, by=person, text="They pretend to be my bank.")
        grant_actions.switch_refresh(grant_id=kept.grant_id, by=person, on=False)
        with pytest.raises(AuditUnavailable):
            grant_actions.switch_refresh(grant_id=kept.grant_id, by=person, on=True)

    grants = {g.pk: g.status for g in Grant.objects.all()}
    assert (grants[released.pk], grants[terminated.pk], grants[over.pk]) == ("released", "terminated", "expired")
    assert ConsentRequest.objects.filter(pk__in=[cancelled.pk, changed.pk], status="cancelled").count() == 2
    assert not Export.objects.filter(grant__in=[released, terminated, over], ciphertext__isnull=False).exists()
    assert AppReport.objects.exists()
    assert write_pending_entries() == 12
    assert Receipt.objects.filter(event__in=["released", "terminated", "expired", "cancelled"]).count() == 5
    assert holds()


# --- Coming back ------------------------------------------------------------------------------------------------------


def test_the_next_append_writes_what_waits_first_and_in_order(
    api: Developer, owner: JsonClient, grant: Grant, vault: Vault
) -> None:
    body = resumption(vault, grant, owner.get(f"/consent/grants/{grant.grant_id}/nonce").json()["nonce"])
    with audit_away():
        pause(owner, grant)
        assert owner.post(f"/consent/grants/{grant.grant_id}/resume", body).status_code == 503
        other = ConsentRequestFactory(app=api.app)
        decision_actions.deny(request_id=other.request_id, by=other.user)

    assert owner.post(f"/consent/grants/{grant.grant_id}/resume", body).status_code == 200

    assert kinds_of(grant.request, "person:") == ["approved", "paused", "resumed"]
    of_app = AuditEntry.objects.of(f"app:{api.app.app_id}").order_by("sequence")
    assert list(of_app.values_list("kind", flat=True)) == ["approved", "paused", "denied", "resumed"]
    assert list(AuditPending.objects.values_list("chain", flat=True)) == [f"person:{other.user.public_id}"]
    write_pending_entries()
    assert holds()


def test_the_chain_of_reads_goes_on_behind_what_waits(api: Developer, owner: JsonClient, grant: Grant) -> None:
    api.get(f"/consent-export?request_id={grant.request.request_id}")
    with audit_away():
        revoke(owner, grant)
        with pytest.raises(AuditUnavailable):
            chain_pending_reads()

    chain_pending_reads()

    chain = AuditEntry.objects.of(f"person:{grant.user.public_id}").order_by("sequence")
    assert list(chain.values_list("kind", flat=True)) == ["approved", "revoked", "reads"]
    assert holds()


def test_what_waits_for_ten_minutes_alarms_each_time(
    api: Developer, grant: Grant, owner: JsonClient, caplog: pytest.LogCaptureFixture
) -> None:
    staff = Client()
    staff.force_login(StaffFactory(is_superuser=True))

    def alarms() -> int:
        caplog.clear()
        write_pending_entries()
        return sum(line.levelno == logging.CRITICAL for line in caplog.records)

    with audit_away():
        revoke(owner, grant)
        assert alarms() == 0
        call_command("verify_audit")
        later = timezone.now() + timedelta(minutes=11)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("consent.ledger.pending.database_now", lambda: later)
            assert [alarms(), alarms()] == [1, 1]
            assert len(list(verify_pending())) == 2
            with pytest.raises(CommandError):
                call_command("verify_audit")
    write_pending_entries()
    assert holds()
