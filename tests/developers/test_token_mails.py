"""Reminders 14 and 2 days before a token's end: to every member, in their language, once."""

import threading
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.utils import timezone

from accounts.outbox import send_due_mails
from developers.models import AppMember, DeveloperToken
from developers.tokens.actions import revoke_token, rotate_token
from tests.factories import MemberFactory, TestAppFactory, TokenFactory
from tests.outbox import send_mails


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
    """How many reminders go out, so much later."""
    before = len(mail.outbox)
    with time_machine.travel(timezone.now() + timedelta(days=days), tick=False):
        send_mails()
    return sum(sent.subject.endswith("ends soon") or "endet" in sent.subject for sent in mail.outbox[before:])


def test_members_are_reminded_twice(member: AppMember) -> None:
    MemberFactory(app=member.app, user__email="bo@example.org", user__language="de", role="member")
    token = _token(member)

    assert [_mails_after(days) for days in (0, 75.9, 76.1, 80, 87.9, 88.1, 89, 91)] == [0, 0, 2, 0, 0, 2, 0, 0]

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


@pytest.mark.django_db(transaction=True)  # two workers, each with a connection of its own
def test_two_workers_write_once() -> None:
    member = MemberFactory(app=TestAppFactory())
    TokenFactory.create_batch(5, app=member.app, created_by=member.user)
    written = []

    def work() -> None:
        try:
            written.append(send_due_mails())
        finally:
            connection.close()

    with time_machine.travel(timezone.now() + timedelta(days=77), tick=True):
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    assert (sum(written), len(mail.outbox)) == (5, 5)
