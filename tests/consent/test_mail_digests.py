"""However many apps ask, a person gets one mail an hour about requests: nothing is lost, nothing written twice."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone

from accounts.models import User
from accounts.outbox import send_due_mails
from common.clock import database_now
from consent.mail.models import Mail
from consent.requests.models import ConsentRequest
from tests.factories import AppFactory, ConsentRequestFactory, GrantFactory, PersonFactory
from tests.lifecycle.clock import Clock, movable_database_clock
from tests.outbox import send_mails
from tests.patience import MOST_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)  # the moved clock needs connections opened anew
MINUTE, HOUR = 60, 3600


@pytest.fixture
def clock(transactional_db: None) -> Iterator[Clock]:
    """Noon, until it is moved."""
    with movable_database_clock():
        moved = Clock(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0))
        yield moved
        moved.stop()


def ask(person: User, count: int = 1, **fields: Any) -> list[ConsentRequest]:
    return [ConsentRequestFactory(user=person, **fields) for _ in range(count)]


def test_thirty_five_requests_are_two_mails(clock: Clock, person: User) -> None:
    ask(person)
    assert send_mails() == 1
    for _ in range(34):
        ask(person)
        clock.advance(30)
        assert send_mails() == 0

    clock.advance(HOUR - 34 * 30 - 1)
    assert send_mails() == 0
    clock.advance(1)
    assert (send_mails(), send_mails()) == (1, 0)
    clock.advance(2 * HOUR)
    assert send_mails() == 0

    [first, digest] = mail.outbox
    assert first.subject.endswith("asks to see some of your data")
    assert digest.subject == "35 requests from 35 apps wait for your decision"
    assert digest.to == [person.email]
    assert "35 requests from 35 apps wait for your decision." in digest.body
    assert digest.body.count(": 1 request\n") == 20
    assert "- and 14 more apps" in digest.body
    assert "/consent/\n" in digest.body
    assert not digest.alternatives
    assert Mail.objects.count() == 35


def test_what_comes_together_is_one_mail_that_names_each_app(clock: Clock, person: User) -> None:
    app = AppFactory(name="Lunch Finder", application__legal_name="Lunch GmbH")
    ask(person, 3, app=app, app_name="Lunch Finder")
    ask(person, 1, app_name="Trips & <Tours>", app__application__legal_name="Trips Ltd")

    assert send_mails() == 1

    [digest] = mail.outbox
    assert digest.subject == "4 requests from 2 apps wait for your decision"
    assert "- Lunch Finder (Lunch GmbH): 3 requests\n- Trips & <Tours> (Trips Ltd): 1 request\n" in digest.body
    assert "more app" not in digest.body
    assert "None" not in digest.body


def test_one_that_is_left_is_written_about_in_full(clock: Clock, person: User) -> None:
    ask(person)
    send_mails()
    [late] = ask(person)
    clock.advance(HOUR)

    assert send_mails() == 1
    assert late.purpose in mail.outbox[1].body


def test_what_was_decided_or_has_ended_is_not_in_the_digest(clock: Clock, person: User) -> None:
    ask(person)
    send_mails()
    [cancelled, *_others] = ask(person, 3)
    ask(person, expires_at=database_now() + timedelta(minutes=30))
    ConsentRequest.objects.filter(pk=cancelled.pk).update(
        status="cancelled", decided_at=database_now(), decided_by="app"
    )
    clock.advance(HOUR)

    assert send_mails() == 1
    assert mail.outbox[1].subject == "3 requests from 3 apps wait for your decision"  # the first waits too


def test_people_are_written_to_independently(clock: Clock, person: User) -> None:
    other = PersonFactory()
    ask(person)
    assert send_mails() == 1
    ask(other)

    assert send_mails() == 1
    assert [written.to for written in mail.outbox] == [[person.email], [other.email]]


def test_a_digest_that_cannot_be_handed_over_comes_later_and_whole(clock: Clock, person: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Away"
    ask(person, 3)
    assert send_mails() == 0
    assert not Mail.objects.exists()
    clock.advance(MINUTE)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    assert send_mails() == 1
    assert mail.outbox[0].subject == "3 requests from 3 apps wait for your decision"


def test_ends_are_gathered_too(clock: Clock, person: User) -> None:
    now = database_now()
    for _ in range(3):
        GrantFactory(
            request__user=person, request__access_duration=30 * 86400,
            starts_at=now - timedelta(days=29), expires_at=now + timedelta(days=1),
        )  # fmt: skip

    assert (send_mails(), send_mails()) == (1, 0)
    [written] = mail.outbox
    assert written.subject == "Some of what you share ends soon"
    assert written.body.count("until ") == 3
    assert "/consent/apps/" in written.body


def test_the_pause_is_a_setting(clock: Clock, person: User, settings: Any) -> None:
    settings.MAIL_PAUSE_SECONDS = 0
    for _ in range(3):
        ask(person)
        assert send_mails() == 1


def test_in_german_it_is_written_in_german(clock: Clock, person: User) -> None:
    person.language = "de"
    person.save()
    ask(person, 2)

    send_mails()

    assert "{" not in mail.outbox[0].body + mail.outbox[0].subject


def test_two_workers_at_once_write_one_mail(settings: Any) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Slow"
    people = [PersonFactory() for _ in range(4)]
    for person in people:
        ask(person, 3)
    barrier = threading.Barrier(4)

    def work(_: int) -> int:
        try:
            barrier.wait(MOST_SECONDS)
            return send_due_mails()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        written = sum(pool.map(work, range(4)))

    assert written == 4
    assert sorted(message.to[0] for message in mail.outbox) == sorted(person.email for person in people)
    assert Mail.objects.count() == 12


class Away(EmailBackend):
    """A mail server that nobody reaches."""

    def open(self) -> bool:
        raise ConnectionRefusedError


class Slow(EmailBackend):
    """A mail server that takes its time, so that a second worker comes meanwhile."""

    def send_messages(self, messages: Any) -> int:
        time.sleep(0.1)
        return int(super().send_messages(messages))
