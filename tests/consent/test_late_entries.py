"""Not even `audit_pending` can be written: the change stands, and its entry is derived later (decision 0016)."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from common.clock import database_now
from consent.decisions import actions as decision_actions
from consent.decisions import late_entries
from consent.decisions.late_entries import verify_ends, write_marked, write_missing
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger.models import AuditPending, Receipt
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from tests.callers import Developer, JsonClient
from tests.chains import holds, kinds_of
from tests.consent.broken_audit import audit_away
from tests.consent.test_audit_away import revoke
from tests.factories import ConsentRequestFactory, ExportFactory

# each call commits as it does in a deployment: a statement that fails by itself leaves no broken transaction behind
pytestmark = [pytest.mark.django_db]
EVERYTHING = ("consent_audit", "audit_pending", "consent_notices")


def marked() -> list[ConsentRequest | Grant]:
    return [*ConsentRequest.objects.filter(record_waits=True), *Grant.objects.filter(record_waits=True)]


def test_where_nothing_can_be_written_the_change_stands_and_is_derived_later(
    api: Developer, owner: JsonClient, person: User, grant: Grant, caplog: pytest.LogCaptureFixture
) -> None:
    request = ConsentRequestFactory(app=api.app, user=person)
    paused = ExportFactory(grant__request__app=api.app).grant
    with audit_away(*EVERYTHING):
        assert revoke(owner, grant).status_code == 200
        decision_actions.deny(request_id=request.request_id, by=person)
        grant_actions.pause(grant_id=paused.grant_id, by=paused.user)

        assert (Grant.objects.get(pk=grant.pk).status, ConsentRequest.objects.get(pk=request.pk).status) == (
            "revoked",
            "denied",
        )
        assert sum(line.levelno == logging.CRITICAL for line in caplog.records) == 6  # an entry and a notice each
        assert not AuditPending.objects.exists()
        assert len(list(verify_ends())) == 2
        assert write_marked() == 0  # nor can the task
        assert len(marked()) == 3

    assert write_marked() == 3
    assert marked() == []
    assert write_marked() == 0

    assert kinds_of(grant.request, "person:") == kinds_of(grant.request, "app:") == ["approved", "revoked"]
    assert kinds_of(request, "person:") == ["denied"]
    assert kinds_of(paused.request, "app:") == ["paused"]
    kinds = Notice.objects.filter(app=api.app).order_by("sequence").values_list("kind", flat=True)
    assert sorted(kinds) == ["consent.approved", "consent.denied", "consent.paused", "consent.revoked"]
    status = api.get("/consent-status", request_id=grant.request.request_id).json()
    assert status["receipt_id"] == Receipt.objects.get(event="revoked").receipt_id
    assert holds()


def test_an_app_is_told_later_where_only_the_notice_could_not_be_written(
    api: Developer, owner: JsonClient, person: User, grant: Grant
) -> None:
    """As a full disk does it, where one table has room left on its last page and another has none."""
    request = ConsentRequestFactory(app=api.app, user=person)
    paused, resumed = (ExportFactory(grant__request__app=api.app).grant for _ in range(2))
    with audit_away("consent_notices"):
        revoke(owner, grant)
        decision_actions.deny(request_id=request.request_id, by=person)
        for each in (paused, resumed):
            grant_actions.pause(grant_id=each.grant_id, by=each.user)
    Grant.objects.filter(pk=resumed.pk).update(status="active")
    assert len(marked()) == 4

    assert write_marked() == 0  # entries that were late
    assert marked() == []
    write_marked()

    kinds = Notice.objects.filter(app=api.app).order_by("sequence").values_list("kind", flat=True)
    assert sorted(kinds) == ["consent.approved", "consent.denied", "consent.paused", "consent.revoked"]
    assert kinds_of(grant.request, "app:") == ["approved", "revoked"]
    assert holds()


def test_what_was_told_is_not_told_again(api: Developer, owner: JsonClient, grant: Grant) -> None:
    with audit_away("consent_audit", "audit_pending"):
        revoke(owner, grant)

    write_marked()

    kinds = Notice.objects.order_by("sequence").values_list("kind", flat=True)
    assert list(kinds) == ["consent.approved", "consent.revoked"]
    assert holds()


def test_what_is_in_no_chain_and_has_no_mark_is_found_within_the_hour(
    api: Developer, person: User, owner: JsonClient, grant: Grant
) -> None:
    request = ConsentRequestFactory(app=api.app, user=person)
    paused = ExportFactory(grant__request__app=api.app).grant
    with audit_away(*EVERYTHING):
        revoke(owner, grant)
        decision_actions.deny(request_id=request.request_id, by=person)
        grant_actions.pause(grant_id=paused.grant_id, by=paused.user)
    ConsentRequest.objects.update(record_waits=False)
    Grant.objects.update(record_waits=False)

    assert write_marked() == 0
    assert write_missing() == 3
    assert write_missing() == 0
    assert list(verify_ends()) == []
    assert holds()


def test_a_mark_goes_where_the_entry_came_otherwise(api: Developer, owner: JsonClient, grant: Grant) -> None:
    revoke(owner, grant)
    Grant.objects.update(record_waits=True)

    assert write_marked() == 0
    assert marked() == []
    assert kinds_of(grant.request, "person:") == ["approved", "revoked"]


def test_nothing_is_written_about_whose_erasure_is_due(api: Developer, owner: JsonClient, grant: Grant) -> None:
    paused = ExportFactory(grant__request__app=api.app).grant
    with audit_away(*EVERYTHING):
        revoke(owner, grant)
        grant_actions.pause(grant_id=paused.grant_id, by=paused.user)
    User.objects.update(leaves_at=database_now())

    assert write_missing() == write_marked() == 0
    assert list(verify_ends()) == []

    User.objects.update(leaves_at=database_now() + timedelta(days=1))
    assert write_missing() == 2


def test_one_run_looks_at_some_of_the_pauses_without_a_lock(api: Developer, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        grant = ExportFactory(grant__request__app=api.app).grant
        grant_actions.pause(grant_id=grant.grant_id, by=grant.user)
    seen, locked = [], []
    is_unrecorded = late_entries._is_unrecorded_pause
    monkeypatch.setattr(late_entries, "_MOST_PAUSES", 2)
    monkeypatch.setattr(late_entries, "_is_unrecorded_pause", lambda pk: seen.append(pk) or is_unrecorded(pk))
    monkeypatch.setattr(late_entries, "_record_grant", locked.append)

    assert write_missing() == 0
    assert (len(seen), locked) == (2, [])


def test_a_look_at_nothing_asks_as_much_whatever_there_is(
    django_assert_num_queries: Any, api: Developer, owner: JsonClient, grant: Grant
) -> None:
    with django_assert_num_queries(2):
        write_marked()
    revoke(owner, grant)
    for _ in range(20):
        ExportFactory(grant__request__app=api.app)
    with django_assert_num_queries(2):
        write_marked()
