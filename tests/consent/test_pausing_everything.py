"""Pausing everything in one step leaves of each approval what pausing it alone leaves."""

from datetime import timedelta

import pytest
from django.db import connection

from accounts.models import User
from common.clock import database_now
from consent.decisions import blocked_apps
from consent.errors import UnknownApp
from consent.grants import actions
from consent.grants.models import Grant
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry, AuditPending
from consent.ledger.pending import write_pending_entries
from consent.notices.models import Notice
from tests.consent.broken_audit import audit_away
from tests.factories import AppFactory, ExportFactory, GrantFactory, PersonFactory

pytestmark = pytest.mark.django_db(transaction=connection.vendor == "postgresql")


def paused_grants(person: User) -> list[str]:
    entries = AuditEntry.objects.of(audit.person_chain(person.public_id)).filter(kind="paused")
    return [entry.facts["grant_id"] for entry in entries.select_related("kept").order_by("sequence")]


def test_everything_pauses_as_if_each_were_paused_alone(person: User) -> None:
    bob = PersonFactory()
    active = [ExportFactory(grant__request__user=person).grant for _ in range(3)]
    theirs = ExportFactory(grant__request__user=bob).grant
    paused = GrantFactory(request__user=person, status="paused")
    over = GrantFactory(request__user=person, status="revoked", ended_at=database_now(), ended_by="person")

    assert (actions.pause_all(by=person), actions.pause_all(by=person)) == (3, 0)

    assert set(Grant.objects.filter(status="paused")) == {*active, paused}
    assert Grant.objects.get(pk=theirs.pk).status == "active"
    assert Grant.objects.get(pk=over.pk).status == "revoked"
    assert paused_grants(person) == [grant.grant_id for grant in active]
    assert paused_grants(bob) == []
    assert set(Notice.objects.values_list("kind", "request")) == {
        ("consent.paused", grant.request_id) for grant in active
    }
    assert all(export.ciphertext for grant in active for export in grant.exports.all())  # it stays
    for grant in active:
        of_app = AuditEntry.objects.of(audit.app_chain(grant.app.app_id)).get(kind="paused")
        assert of_app.facts["grant"]["status"] == "paused"
        assert person.public_id not in str(of_app.facts)
    assert list(verifying.verify()) == []


def test_one_app_pauses_and_no_other(person: User) -> None:
    app = AppFactory()
    its = [GrantFactory(request__user=person, request__app=app, scope=f"attr.food{n}.*") for n in range(2)]
    other = GrantFactory(request__user=person)
    elsewhere = GrantFactory(request__user=PersonFactory(), request__app=app)

    assert blocked_apps.pause_app(app_id=app.app_id, by=person) == 2

    assert set(Grant.objects.filter(status="paused")) == set(its)
    assert set(Grant.objects.filter(status="active")) == {other, elsewhere}
    with pytest.raises(UnknownApp):
        blocked_apps.pause_app(app_id=AppFactory().app_id, by=person)


def test_it_takes_effect_while_the_audit_is_away_and_is_written_later(person: User) -> None:
    active = [ExportFactory(grant__request__user=person).grant for _ in range(2)]

    with audit_away():
        assert actions.pause_all(by=person) == 2

    assert Grant.objects.filter(status="paused").count() == 2
    assert AuditPending.objects.count() == 4
    assert write_pending_entries() == 4
    assert paused_grants(person) == [grant.grant_id for grant in active]
    assert list(verifying.verify()) == []


def test_not_even_an_entry_that_waits_can_be_kept_and_it_takes_effect(person: User) -> None:
    grant = ExportFactory(grant__request__user=person).grant

    with audit_away("consent_audit", "audit_pending"):
        assert actions.pause_all(by=person) == 1

    assert (Grant.objects.get(pk=grant.pk).status, Grant.objects.get(pk=grant.pk).record_waits) == ("paused", True)


def test_more_than_one_batch_pauses_whole(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(7):
        GrantFactory(request__user=person)
    ran_out = GrantFactory(
        request__user=person, starts_at=database_now() - timedelta(days=2), expires_at=database_now()
    )
    monkeypatch.setattr(actions, "_PAUSED_TOGETHER", 3)

    assert actions.pause_all(by=person) == 7

    assert set(Grant.objects.active()) == {ran_out}
    assert list(verifying.verify()) == []


@pytest.mark.parametrize("count", [2, 40])
def test_it_takes_as_many_statements_for_many_as_for_two(
    person: User, count: int, django_assert_max_num_queries: object
) -> None:
    grants = [GrantFactory(request__user=person) for _ in range(count)]
    audit.name_chains([audit.app_chain(grant.app.app_id) for grant in grants] + [audit.person_chain(person.public_id)])

    with django_assert_max_num_queries(25):  # type: ignore[operator]
        assert actions.pause_all(by=person) == count
