"""Mail to people: when one is due, once, and what happens where it cannot be handed over."""

import smtplib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail

from accounts.models import OutgoingMail, User
from accounts.outbox import send_due_mails
from common.clock import database_now
from consent.erasure import ROOM
from consent.mail.models import Mail
from tests.factories import ConsentRequestFactory, GrantFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
DAY = 86400
ROOT = Path(__file__).resolve().parents[2]


def near_its_end(user: User, **fields: Any) -> Any:
    """A grant of a month that ends tomorrow."""
    now = database_now()
    given = {
        "request__access_duration": 30 * DAY,
        "starts_at": now - timedelta(days=29),
        "expires_at": now + timedelta(days=1),
        **fields,
    }
    return GrantFactory(request__user=user, **given)


def test_a_request_is_written_about_once(person: User) -> None:
    request = ConsentRequestFactory(user=person, app_name="Lunch Finder", binding_message="Lisbon 4711")

    assert (send_mails(), send_mails()) == (1, 0)
    [written] = mail.outbox
    assert written.to == [person.email]
    assert written.subject == "Lunch Finder asks to see some of your data"
    for words in (request.purpose, "Food and drink", "If you do nothing", f"/consent/requests/{request.request_id}/"):
        assert words in written.body
    assert "None" not in written.body


def test_an_end_that_comes_near_is_written_about_once(person: User) -> None:
    grant = near_its_end(person)

    assert (send_mails(), send_mails()) == (1, 0)
    [written] = mail.outbox
    assert (written.to, written.subject) == (
        [person.email], f"Sharing with {grant.request.app_name} ends soon"
    )  # fmt: skip
    assert "/consent/apps/" in written.body


def refuse(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def send(**mail: Any) -> None:
        raise smtplib.SMTPRecipientsRefused({mail["to"]: (code, b"no")})

    monkeypatch.setattr("accounts.outbox.mail.send", send)


def test_a_mail_that_was_given_up_is_neither_told_as_sent_nor_written_again(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    near_its_end(person)
    assert send_mails() == 1
    Mail.objects.update(sent_at=database_now() - timedelta(days=1))
    near_its_end(person)
    ConsentRequestFactory(user=person)
    with monkeypatch.context() as full:
        refuse(full, 452)
        assert send_mails() == 0
    waiting = OutgoingMail.objects.get(template="consent/mail/ending")
    assert waiting.until > database_now() + timedelta(days=1, hours=23)
    OutgoingMail.objects.update(until=database_now())

    assert (send_mails(), send_mails()) == (0, 0)

    assert [entry["kind"] for entry in ROOM.export(person)["mails"]] == ["ending"]  # the one that went out


def test_an_address_that_is_refused_for_good_is_written_to_once_about_each(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ConsentRequestFactory(user=person)
    with monkeypatch.context() as unknown:
        refuse(unknown, 550)
        assert send_due_mails() == 0

    assert send_due_mails() == 0
    assert ROOM.export(person)["mails"] == []


def test_nothing_else_is_written_about(person: User) -> None:
    ConsentRequestFactory(user=person, status="denied")
    ConsentRequestFactory(user=person, created_at=database_now() - timedelta(days=2))  # it waited, unseen, too long
    near_its_end(person, status="revoked")
    near_its_end(person, expires_at=database_now() + timedelta(days=3))
    # asked for long, but shortened: nobody has forgotten it
    near_its_end(person, starts_at=database_now() - timedelta(days=1))

    assert send_mails() == 0
