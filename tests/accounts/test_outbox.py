"""The one outbox: a mail goes out once, whoever dies or is away meanwhile, and tells a copied database nothing."""

import smtplib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import transaction
from django.utils import timezone

from accounts.identifiers import sandbox_address
from accounts.models import OutgoingMail, User
from accounts.outbox import drop_mails, is_due, send_due_mails, send_mail
from common.clock import database_now
from tests import factories
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
RESET = "account_security/mail/reset"


def write(to: User, **named: Any) -> None:
    send_mail(RESET, to=to, context={"address": "https://consent.example/#secret-of-the-link"}, **named)


class Server(EmailBackend):
    """A mail server that is away, or goes after some mails, or answers one address in its own way."""

    takes = 99
    refuses: dict[str, Exception] = {}

    def open(self) -> bool:
        if not Server.takes:
            raise ConnectionRefusedError
        return True

    def send_messages(self, messages: Any) -> int:
        if error := Server.refuses.get(messages[0].to[0]):
            raise error
        if not Server.takes:
            raise smtplib.SMTPServerDisconnected("gone")
        Server.takes -= 1
        return int(super().send_messages(messages))


@pytest.fixture
def server(settings: Any) -> type[Server]:
    settings.EMAIL_BACKEND = f"{__name__}.Server"
    Server.takes, Server.refuses = 99, {}
    return Server


def test_mail_is_sealed_until_it_is_sent_and_then_forgotten(person: User) -> None:
    User.objects.filter(pk=person.pk).update(language="de")
    person.refresh_from_db()
    write(person)

    kept = OutgoingMail.objects.get()
    assert not any(secret in kept.sealed for secret in ("secret-of-the-link", person.email))
    assert (send_due_mails(), send_due_mails()) == (1, 0)

    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == ([person.email], "Deine versiegelten Daten werden vernichtet")
    assert "https://consent.example/#secret-of-the-link" in sent.body
    assert not OutgoingMail.objects.exists()


def test_mail_goes_with_its_transaction(person: User) -> None:
    with transaction.atomic():
        write(person)
        transaction.set_rollback(True)

    assert not OutgoingMail.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_worker_is_woken_once_it_is_committed(person: User) -> None:
    with transaction.atomic():
        write(person)
        assert mail.outbox == []

    assert [sent.to for sent in mail.outbox] == [[person.email]]


def test_mail_of_the_same_key_is_one_the_newest(person: User) -> None:
    write(person, key="reset:1", address="old@example.org")
    write(person, key="reset:1")

    assert send_mails() == 1
    assert mail.outbox[0].to == [person.email]


def test_mail_that_is_dropped_does_not_go_out(person: User) -> None:
    write(person, key="reset:1")
    drop_mails("reset:1", "reset:2")

    assert send_mails() == 0


def test_nobody_writes_to_a_sandbox_person(db: None) -> None:
    write(factories.PersonFactory(email=sandbox_address("usr_sandbox")))

    assert not OutgoingMail.objects.exists()


@pytest.mark.parametrize(
    ("refusal", "later"),
    [
        (smtplib.SMTPRecipientsRefused({"a@example.org": (452, b"full")}), 1),
        (smtplib.SMTPRecipientsRefused({"a@example.org": (550, b"unknown")}), 0),
        (smtplib.SMTPDataError(554, b"a@example.org does not like its content"), 1),
        (smtplib.SMTPSenderRefused(552, b"too long for a@example.org", "consent@example.org"), 1),
        (ValueError("a@example.org is no such address"), 1),
    ],
)
def test_refused_mail_keeps_nobody_waiting_and_is_tried_later(
    person: User, server: type[Server], refusal: Exception, later: int, caplog: pytest.LogCaptureFixture
) -> None:
    write(person, address="a@example.org")
    write(person)
    server.refuses = {"a@example.org": refusal}

    assert send_due_mails() == 1
    assert [sent.to for sent in mail.outbox] == [[person.email]]
    server.refuses = {}
    assert send_due_mails() == 0  # not at once
    assert send_mails() == later
    assert RESET in caplog.text
    assert "a@example.org" not in caplog.text  # whoever is erased goes from no log


def test_pause_before_the_next_try_grows_to_an_hour(person: User, server: type[Server]) -> None:
    server.refuses = {person.email: smtplib.SMTPDataError(451, b"later")}
    write(person)
    pauses = []
    for _ in range(8):
        OutgoingMail.objects.update(due_at=database_now())
        before = database_now()
        send_due_mails()
        pauses.append(round((OutgoingMail.objects.get().due_at - before).total_seconds() / 60))

    assert pauses == [2, 4, 8, 16, 32, 60, 60, 60]


def test_server_that_is_away_is_no_try_and_keeps_all_for_later(person: User, server: type[Server]) -> None:
    write(person)
    write(person)
    server.takes = 1

    assert send_due_mails() == 1
    assert OutgoingMail.objects.get().tries == 0
    assert send_mails() == 0
    server.takes = 9
    assert send_mails() == 1
    assert len(mail.outbox) == 2


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (smtplib.SMTPServerDisconnected("at this very mail"), 1),
        (smtplib.SMTPSenderRefused(421, b"too many connections", "consent@example.org"), 0),
        (smtplib.SMTPRecipientsRefused({"a@example.org": (421, b"later")}), 0),
    ],
)
def test_mail_at_which_the_connection_breaks_was_tried_and_keeps_no_other_back(
    person: User, server: type[Server], error: Exception, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    write(person, address="a@example.org")
    write(person)
    server.refuses = {"a@example.org": error}

    assert send_due_mails() == 0
    assert OutgoingMail.objects.order_by("pk").values_list("tries", flat=True)[0] == tries
    assert send_due_mails() == 1
    assert "a@example.org" not in caplog.text


def test_nothing_is_gathered_before_what_waits_was_sent(person: User, server: type[Server]) -> None:
    factories.ConsentRequestFactory()
    write(person)
    server.refuses = {person.email: smtplib.SMTPServerDisconnected("gone")}

    assert send_due_mails() == 0
    assert [waiting.template for waiting in OutgoingMail.objects.all()] == [RESET]
    assert send_due_mails() == 1


def test_nothing_is_gathered_while_the_server_is_away(person: User, server: type[Server]) -> None:
    factories.ConsentRequestFactory(user=person)
    server.takes = 0
    assert send_due_mails() == 0
    factories.ConsentRequestFactory(user=person)
    server.takes = 9

    assert send_due_mails() == 1
    assert mail.outbox[0].subject == "2 requests from 2 apps wait for your decision"


def test_mail_of_a_worker_that_died_is_tried_again(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    write(person)

    def killed(**_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr("accounts.outbox.mail.send", killed)
        with pytest.raises(KeyboardInterrupt):
            send_due_mails()

    assert send_due_mails() == 0  # its lease
    assert send_mails() == 1


def test_mail_that_nothing_takes_for_a_week_is_given_up(person: User) -> None:
    factories.OutgoingMailFactory(until=timezone.now())
    unreadable = factories.OutgoingMailFactory(sealed="under a key that is gone")
    write(person)

    assert send_mails() == 1
    assert OutgoingMail.objects.get() == unreadable  # until its key is back


def test_gathering_that_fails_keeps_no_other_mail_back(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    factories.ConsentRequestFactory(user=person)
    write(person)
    monkeypatch.setattr("consent.mail.actions._note", lambda *_: 1 / 0)

    assert send_due_mails() == 1


def _ending_token() -> None:
    token = factories.TokenFactory(expires_at=timezone.now() + timedelta(days=1))
    type(token).objects.update(created_at=timezone.now() - timedelta(days=89))


def _settled_change() -> None:
    change = factories.SecurityChangeFactory()
    type(change).objects.update(at=change.at - timedelta(minutes=1))


@pytest.mark.parametrize(
    "make",
    [
        factories.OutgoingMailFactory,
        factories.ConsentRequestFactory,
        lambda: factories.ApplicationFactory(status="submitted", reviewer=None, reviewed_at=None),
        _ending_token,
        _settled_change,
    ],
)
def test_there_is_work_where_a_mail_waits_or_is_to_be_made(make: Callable[[], Any]) -> None:
    assert not is_due()

    make()

    assert is_due()
