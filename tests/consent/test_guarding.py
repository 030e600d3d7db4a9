"""Blocking, reporting, keeping current."""

import base64

import pytest

from common.limits import Limit
from common.problems import TooManyRequests
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from consent.decisions.blocked_apps import Ended
from consent.decisions.models import AppReport, BlockedApp
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.exports.models import Export
from consent.grants import actions as grant_actions
from consent.grants.models import Grant
from consent.ledger import entry_limit, verifying
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditEntry, Receipt
from consent.ledger.proofs import chain_of
from consent.requests.models import ConsentRequest
from tests.chains import entries_about
from tests.factories import ConsentRequestFactory, ExportFactory


def test_blocking_cancels_what_waits_and_keeps_what_is_shared(db: None) -> None:
    grant = ExportFactory().grant
    waiting = ConsentRequestFactory(app=grant.app, user=grant.user)

    assert blocked_apps.block_app(app_id=grant.app.app_id, by=grant.user, stop=False) == Ended(requests=1, grants=0)
    assert blocked_apps.block_app(app_id=grant.app.app_id, by=grant.user, stop=False) == Ended(requests=0, grants=0)

    grant.refresh_from_db()
    assert (ConsentRequest.objects.get(pk=waiting.pk).status, grant.status) == ("cancelled", "active")
    assert entries_about("person:").filter(kind="app_blocked").count() == 1
    assert AuditEntry.objects.filter(kind="app_blocked").count() == 1
    blocked_apps.unblock_app(app_id=grant.app.app_id, by=grant.user)
    assert not BlockedApp.objects.exists()
    assert list(verifying.verify()) == []


@pytest.mark.parametrize("blocks", [True, False])
def test_everything_that_an_app_reads_stops_in_one_step(db: None, blocks: bool) -> None:
    first = ExportFactory().grant
    app, person = first.app, first.user
    second = ExportFactory(
        grant__request__app=app, grant__request__user=person, grant__request__scope="attr.contact.*",
        grant__status="paused",
    ).grant  # fmt: skip
    waiting = ConsentRequestFactory(app=app, user=person)
    of_others = [ExportFactory(grant__request__app=app).grant, ExportFactory(grant__request__user=person).grant]

    if blocks:
        assert blocked_apps.block_app(app_id=app.app_id, by=person, stop=True) == Ended(requests=1, grants=2)
    else:
        assert blocked_apps.stop_app(app_id=app.app_id, by=person) == 2
        assert blocked_apps.stop_app(app_id=app.app_id, by=person) == 0

    ended = Grant.objects.filter(pk__in=[first.pk, second.pk])
    assert set(ended.values_list("status", "ended_by")) == {("revoked", "person")}
    assert not Export.objects.filter(grant__in=ended, ciphertext__isnull=False).exists()
    assert Receipt.objects.filter(event="revoked").count() == 2
    assert ConsentRequest.objects.get(pk=waiting.pk).status == ("cancelled" if blocks else "pending")
    assert {Grant.objects.get(pk=grant.pk).status for grant in of_others} == {"active"}
    assert list(verifying.verify()) == []


def test_a_report_reaches_staff_and_not_the_app(db: None) -> None:
    request = ConsentRequestFactory()

    blocked_apps.report_app(app_id=request.app.app_id, by=request.user, text="They pretend to be my bank.")

    assert AppReport.objects.get().text == "They pretend to be my bank."
    assert not entries_about("app:").exists()


def test_keeping_current_is_for_continuous_grants_of_ones_own(db: None) -> None:
    snapshot = ExportFactory().grant
    grant = ExportFactory(grant__request__refresh_policy="continuous").grant

    with pytest.raises(MoveNotAllowed):
        grant_actions.switch_refresh(grant_id=snapshot.grant_id, by=snapshot.user, on=False)
    with pytest.raises(UnknownGrant):
        grant_actions.switch_refresh(grant_id=grant.grant_id, by=snapshot.user, on=False)
    assert grant_actions.switch_refresh(grant_id=grant.grant_id, by=grant.user, on=False) == grant.request.request_id
    assert grant_actions.switch_refresh(grant_id=grant.grant_id, by=grant.user, on=False) == grant.request.request_id

    facts = AuditEntry.objects.get(kind="kept_current").facts
    assert facts == {
        "request_id": grant.request.request_id, "grant_id": grant.grant_id, "app_id": grant.app.app_id, "kept": False,
    }  # fmt: skip


def test_a_person_cannot_grow_the_log_without_end(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_limit, "_ENTRIES", Limit("own-entries", 2, 3600, in_database=True))
    monkeypatch.setattr(entry_limit, "_REPORTS", Limit("reports", 1, 3600, in_database=True))
    grant = ExportFactory(grant__request__refresh_policy="continuous").grant
    person, app_id = grant.user, grant.app.app_id
    once_more = [
        lambda: blocked_apps.report_app(app_id=app_id, by=person, text="Again."),
        lambda: blocked_apps.unblock_app(app_id=app_id, by=person),
        lambda: grant_actions.switch_refresh(grant_id=grant.grant_id, by=person, on=True),
    ]

    def protected() -> None:
        blocked_apps.block_app(app_id=app_id, by=person, stop=False)
        grant_actions.switch_refresh(grant_id=grant.grant_id, by=person, on=False)

    protected()
    for act in once_more:
        act()
    protected()
    before = AuditEntry.objects.count()

    for act in once_more:
        with pytest.raises(TooManyRequests):
            act()

    assert AuditEntry.objects.count() == before
    assert BlockedApp.objects.exists()
    grant.refresh_from_db()
    assert (grant.kept_current, AppReport.objects.count()) == (False, 1)
    blocked_apps.pause_app(app_id=app_id, by=person)
    assert blocked_apps.stop_app(app_id=app_id, by=person) == 1
    assert list(verifying.verify()) == []


def test_a_persons_chain_can_be_checked_from_what_they_are_given(db: None) -> None:
    request = ConsentRequestFactory()
    decision_actions.deny(request_id=request.request_id, by=request.user)

    chain = chain_of(user=request.user, after=0)

    entry = chain["entries"][0]
    assert chain["head"] == {"chain": entry["chain"], "sequence": 1, "entry_hash": entry["entry_hash"]}
    names = ("v", "chain", "sequence", "prev_hash", "kind", "actor", "at", "facts_hash")
    assert sha256_canonical({name: entry[name] for name in names}) == entry["entry_hash"]
    salt = base64.urlsafe_b64decode(entry["salt"] + "=")
    assert len(salt) == 32
    assert sha256_canonical(entry["facts"], salt) == entry["facts_hash"]
    assert chain_of(user=request.user, after=1)["entries"] == []
