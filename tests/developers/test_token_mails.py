"""Reminders 14 and 2 days before a token's end: to every member, in their language, once."""

import smtplib
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone

from developers.models import AppMember, DeveloperToken
from developers.tokens.actions import revoke_token, rotate_token
from developers.tokens.mails import send_due_token_mails
from tests.factories import MemberFactory, TestAppFactory, TokenFactory


@pytest.fixture
def member(db: None) -> AppMember:
    made: AppMember = MemberFactory(app=TestAppFactory(name="Lunch Finder"), user__email="ana@example.org")
    return made


def _token(member: AppMember, days: int = 90) -> DeveloperToken:
    made: DeveloperToken = TokenFactory(
        app=member.app, label="backend", expires_at=timezone.now() + timedelta(days=days), created_by=member.user
    )
    return made


def _mails_after(days: float) -> int:
    """How many tokens are written about, so much later."""
    with time_machine.travel(timezone.now() + timedelta(days=days), tick=False):
        return send_due_token_mails()


def test_members_are_reminded_twice(member: AppMember) -> None:
    MemberFactory(app=member.app, user__email="bo@example.org", user__language="de", role="member")
    token = _token(member)

    assert [_mails_after(days) for days in (0, 75.9, 76.1, 80, 87.9, 88.1, 89, 91)] == [0, 0, 1, 0, 0, 1, 0, 0]

    assert sorted(sent.to[0] for sent in mail.outbox) == ["ana@example.org"] * 2 + ["bo@example.org"] * 2
    english = next(sent for sent in mail.outbox if sent.to == ["ana@example.org"])
    assert english.subject == "The token “backend” of Lunch Finder ends soon"
    assert token.prefix in english.body
    assert f"/developers/apps/{member.app.app_id}/tokens/" in english.body


def test_nobody_is_reminded_of_what_ended_or_was_made_for_less(member: AppMember) -> None:
    revoke_token(token=_token(member), by=None)
    rotate_token(token=_token(member), by=member.user)
    _token(member, days=10)
    DeveloperToken.objects.exclude(label="backend").delete()
    DeveloperToken.objects.filter(revoked_at=None, expires_at__gt=timezone.now() + timedelta(days=20)).delete()

    assert _mails_after(5) == 0
    assert _mails_after(8.5) == 1  # the two days' reminder of what was made for ten
    member.app.status = "closed"
    member.app.save()
    _token(member)
    assert _mails_after(77) == 0


class _Away(EmailBackend):
    """A mail server that takes some mails and then goes away, or refuses some addresses."""

    takes = 0
    refuses = ""

    def send_messages(self, messages: Sequence[Any]) -> int:
        cls = type(self)
        if cls.refuses and cls.refuses in messages[0].to:
            raise smtplib.SMTPRecipientsRefused({cls.refuses: (550, b"nobody here")})
        if cls.takes <= 0:
            raise ConnectionRefusedError
        cls.takes -= 1
        return int(super().send_messages(messages))


@pytest.fixture
def away(settings: Any) -> type[_Away]:
    settings.EMAIL_BACKEND = f"{__name__}._Away"
    _Away.takes, _Away.refuses = 0, ""
    return _Away


def test_a_mail_server_that_is_away_is_tried_again(member: AppMember, away: type[_Away]) -> None:
    _token(member)
    assert [_mails_after(77), len(mail.outbox)] == [0, 0]
    away.takes = 9

    assert [_mails_after(77), _mails_after(77), len(mail.outbox)] == [1, 0, 1]


def test_an_address_that_is_refused_holds_up_nobody_elses_mail(member: AppMember, away: type[_Away]) -> None:
    MemberFactory(app=member.app, user__email="bo@example.org")
    _token(member)
    away.takes, away.refuses = 9, "ana@example.org"

    assert [_mails_after(77), _mails_after(77)] == [1, 0]
    assert [sent.to for sent in mail.outbox] == [["bo@example.org"]]


def test_nobody_is_told_twice_where_the_server_goes_away_midway(member: AppMember, away: type[_Away]) -> None:
    MemberFactory(app=member.app, user__email="bo@example.org")
    _token(member)
    away.takes = 1
    _mails_after(77)
    away.takes = 9
    _mails_after(77)

    assert [sent.to for sent in mail.outbox] == [["ana@example.org"]]


@pytest.mark.django_db(transaction=True)  # two workers, each with a connection of its own
def test_two_workers_write_once() -> None:
    member = MemberFactory(app=TestAppFactory())
    TokenFactory.create_batch(5, app=member.app, created_by=member.user)
    written = []

    def work() -> None:
        try:
            written.append(send_due_token_mails())
        finally:
            connection.close()

    with time_machine.travel(timezone.now() + timedelta(days=77), tick=True):
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    assert (sum(written), len(mail.outbox)) == (5, 5)
