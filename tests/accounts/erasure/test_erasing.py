"""Erasing a person, in every room at once."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from accounts.erasure.actions import erase, erase_due, order_erasure, request_erasure, take_back
from accounts.hooks import room_erasures
from accounts.identifiers import sandbox_address
from accounts.models import Erasure, OutgoingMail, User
from common.sql.erasing import PersonalRows
from consent.decisions import actions as decision_actions
from consent.grants.models import Grant
from consent.ledger import verifying
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, Receipt
from consent.notices.models import Notice
from developers.people import AppPerson
from tests import factories
from tests.accounts.erasure.tables import tables_of_people
from tests.chains import entries_about
from tests.outbox import send_mails


def test_every_table_that_leads_to_a_person_is_known_to_erasure() -> None:
    known = {table for room in room_erasures() for table in room.tables}

    assert tables_of_people() - known == set()


def due(user: User) -> Erasure:
    return factories.ErasureFactory(user=user, asked_at=timezone.now() - timedelta(days=8))


def test_an_erased_person_leaves_an_anonymous_row_and_chains_that_hold(db: None) -> None:
    vault = factories.give_vault(factories.PersonFactory())
    user = vault.user
    export = factories.ExportFactory(grant__request__user=user)
    other = factories.ConsentRequestFactory(app=export.grant.app)
    denied = factories.ConsentRequestFactory(app=export.grant.app, user=user)
    decision_actions.deny(request_id=denied.request_id, by=user)
    decision_actions.deny(request_id=other.request_id, by=other.user)
    pending = factories.ConsentRequestFactory(user=user)

    assert erase(erasure_pk=due(user).pk)

    user.refresh_from_db()
    assert (user.email, user.display_name, user.is_active) == (f"{user.public_id}@erased.invalid", "", False)
    grant = Grant.objects.get(pk=export.grant.pk)
    assert (grant.status, grant.approved_attributes) == ("revoked", [])
    pending.refresh_from_db()
    assert (pending.status, pending.purpose) == ("cancelled", "")
    assert Notice.objects.filter(request__user=user).count() == 3
    assert not Receipt.objects.filter(request__user=user).exists()
    assert Receipt.objects.filter(request=other).exists()
    assert not AuditFacts.objects.filter(about=user.public_id).exists()
    assert not AuditChain.objects.filter(subject=f"person:{user.public_id}").exists()
    assert AuditEntry.objects.filter(kind="erased").count() == 3
    assert [entry.facts["user_id"] for entry in entries_about("app:").filter(kind="denied") if entry.facts] == [
        other.pairwise_id
    ]
    assert not AppPerson.objects.filter(user=user).exists()
    assert not AuditFacts.objects.filter(about__in=[one.pairwise_id for one in (denied, pending)]).exists()
    assert list(verifying.verify()) == []
    call_command("verify_audit", stdout=StringIO())
    assert Erasure.objects.get().done_at is not None
    assert not erase(erasure_pk=Erasure.objects.get().pk)


@pytest.mark.parametrize("broken_at", ["vault", "consent", "account"])
def test_what_was_cut_off_is_carried_on(db: None, broken_at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user = factories.ExportFactory().grant.user
    due(user)
    room = next(room for room in room_erasures() if room.name == broken_at)

    erase_rows = PersonalRows.erase

    def cut(rows: PersonalRows, **given: Any) -> None:
        erase_rows(rows, **given)
        if rows is room.rows:
            raise OSError("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(PersonalRows, "erase", cut)
        assert erase_due() == 0
    user.refresh_from_db()
    assert not user.is_active

    assert erase_due() == 1
    assert list(verifying.verify()) == []


def test_an_erasure_waits_and_can_be_taken_back(db: None) -> None:
    user = factories.PersonFactory()

    erasure = request_erasure(by=user)

    assert erasure.due_at - erasure.asked_at == timedelta(days=7)
    assert request_erasure(by=user).pk == erasure.pk
    assert erase_due() == 0
    assert not erase(erasure_pk=erasure.pk)
    assert take_back(by=user)
    assert not take_back(by=user)
    user.refresh_from_db()
    assert user.leaves_at is None
    assert order_erasure(of=user).due_at <= timezone.now() + timedelta(seconds=5)


def test_mail_that_keeps_the_account_is_tried_until_it_goes(person: User, settings: Any) -> None:
    settings.ERASURE_WAIT_DAYS = 30

    erasure = request_erasure(by=person)

    assert OutgoingMail.objects.get().until >= erasure.due_at


# --- the last mail ----------------------------------------------------------------------------------------------------


def test_who_was_erased_is_told_once_and_their_address_is_forgotten(person: User) -> None:
    User.objects.filter(pk=person.pk).update(language="de")
    assert erase(erasure_pk=due(person).pk)
    kept = OutgoingMail.objects.get()
    assert (kept.user, person.email in kept.sealed) == (None, False)

    assert (send_mails(), send_mails()) == (1, 0)

    (message,) = mail.outbox
    assert (message.to, message.subject) == ([person.email], "Dein Konto ist gelöscht")
    assert "http" not in message.body
    assert not OutgoingMail.objects.exists()


def test_what_was_to_be_written_to_them_goes_with_the_account(person: User) -> None:
    factories.OutgoingMailFactory(user=person)

    assert erase(erasure_pk=due(person).pk)

    assert OutgoingMail.objects.get().template == "account_security/mail/erased"


def test_nobody_is_told_before_it_is_done(person: User) -> None:
    due(person)
    assert (send_mails(), mail.outbox) == (0, [])


def test_a_sandbox_person_is_not_written_to(db: None) -> None:
    user = factories.PersonFactory(email=sandbox_address("usr_sandbox"))
    assert erase(erasure_pk=due(user).pk)
    assert not OutgoingMail.objects.exists()
