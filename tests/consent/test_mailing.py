"""Mail to people: when one is due, once, and what happens where it cannot be handed over."""

import smtplib
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import User
from common.clock import database_now
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.mail.actions import send_due_mails
from consent.mail.models import Mail, MailKind
from consent.requests.models import ConsentRequest
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


def test_the_upgrade_lets_wait_what_nobody_was_written_to_about() -> None:
    """Rows from before the columns were there say that they wait, until the migration looks what was written."""
    [name] = [path.stem for path in (ROOT / "consent/migrations").glob("*_mail_waits.py")]
    told, untold = ConsentRequestFactory(), ConsentRequestFactory()
    Mail.objects.create(request=told, kind=MailKind.REQUEST, sent_at=database_now())
    reminded, unreminded, short = near_its_end(PersonFactory()), near_its_end(PersonFactory()), GrantFactory()
    Mail.objects.create(request=reminded.request, kind=MailKind.ENDING, sent_at=database_now())
    Mail.objects.create(request=unreminded.request, kind=MailKind.REQUEST, sent_at=database_now())

    import_module(f"consent.migrations.{name}").note_what_was_written(apps, None)

    assert short.expires_at - short.starts_at < FORGOTTEN_AFTER
    pending = ConsentRequest.objects.filter(status="pending")
    assert set(pending.filter(mail_waits=True)) == {untold}
    assert set(pending.filter(mail_waits=False)) == {told}
    assert set(Grant.objects.filter(reminder_waits=True)) == {unreminded}
    assert set(Grant.objects.filter(reminder_waits=False)) == {reminded, short}
    assert send_due_mails() == 2
    newest = Mail.objects.order_by("-pk").values_list("request", "kind")[:2]
    assert list(newest) == [(unreminded.request_id, "ending"), (untold.pk, "request")]
