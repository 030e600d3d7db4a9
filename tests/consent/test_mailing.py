"""Mail to people: when one is due, once, and what happens where it cannot be handed over."""

import smtplib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import User
from common.clock import database_now
from consent.mail.actions import send_due_mails
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory

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
    asked = ConsentRequestFactory(user=person, app_name="Lunch Finder", binding_message="Lisbon 4711")

    assert (send_due_mails(), send_due_mails()) == (1, 0)
    [written] = mail.outbox
    assert written.to == [person.email]
    assert written.subject == "Lunch Finder asks to see some of your data"
    for words in (asked.purpose, "Food and drink", "If you do nothing", f"/consent/requests/{asked.request_id}/"):
        assert words in written.body
    assert "None" not in written.body


def test_an_end_that_comes_near_is_written_about_once(person: User) -> None:
    grant = near_its_end(person)

    assert (send_due_mails(), send_due_mails()) == (1, 0)
    [written] = mail.outbox
    assert (written.to, written.subject) == (
        [person.email], f"Sharing with {grant.request.app_name} ends soon"
    )  # fmt: skip
    assert "/consent/grants/" in written.body


def test_nothing_else_is_written_about(person: User) -> None:
    ConsentRequestFactory(user=person, status="denied")
    ConsentRequestFactory(user=person, created_at=database_now() - timedelta(days=2))  # it waited, unseen, too long
    near_its_end(person, status="revoked")
    near_its_end(person, expires_at=database_now() + timedelta(days=3))
    # asked for long, but shortened: nobody has forgotten it
    near_its_end(person, starts_at=database_now() - timedelta(days=1))

    assert send_due_mails() == 0


class Refusing(EmailBackend):
    """A mail server that has one address it does not like, or is away."""

    refuses, code = "", 550
    away = False

    def send_messages(self, messages: Any) -> int:
        if Refusing.away:
            raise ConnectionRefusedError
        if messages[0].to == [Refusing.refuses]:
            if Refusing.code == 554:
                raise smtplib.SMTPDataError(554, b"no")
            raise smtplib.SMTPRecipientsRefused({Refusing.refuses: (Refusing.code, b"no")})
        return int(super().send_messages(messages))


@pytest.fixture
def refusing(settings: Any) -> type[Refusing]:
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"
    return Refusing


@pytest.mark.parametrize(("code", "later"), [(452, 1), (550, 0), (554, 1)])  # full; unknown; of its content
def test_one_refused_address_keeps_nobody_else_waiting(
    refusing: type[Refusing], monkeypatch: pytest.MonkeyPatch, person: User, code: int, later: int
) -> None:
    ConsentRequestFactory(user=person)
    other = ConsentRequestFactory(user=PersonFactory()).user
    monkeypatch.setattr(refusing, "refuses", person.email)
    monkeypatch.setattr(refusing, "code", code)

    assert send_due_mails() == 1
    assert [written.to for written in mail.outbox] == [[other.email]]
    monkeypatch.setattr(refusing, "refuses", "")
    assert send_due_mails() == later


def test_where_the_mail_server_is_away_all_is_written_later(
    refusing: type[Refusing], monkeypatch: pytest.MonkeyPatch, person: User
) -> None:
    near_its_end(person)
    ConsentRequestFactory(user=person)
    monkeypatch.setattr(refusing, "away", True)

    assert send_due_mails() == 0
    monkeypatch.setattr(refusing, "away", False)
    assert send_due_mails() == 2
