"""What people are told of as they chose: by mail or to their browsers, at once or later, or not at all."""

import json
from collections.abc import Iterator
from datetime import time, timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from accounts.alerts import push
from accounts.models import AlertSettings, User
from accounts.outbox import send_due_mails
from consent.grants.models import Grant
from consent.mail.models import Mail
from consent.requests.models import ConsentRequest
from tests.callers import Developer
from tests.factories import (
    AlertSettingsFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    PushSubscriptionFactory,
    ReadFactory,
)
from tests.fakes.push_service import FakeBrowser, PushService, push_service
from tests.lifecycle.clock import Clock, movable_database_clock
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db(transaction=True)  # the moved clock needs connections opened anew
HOUR = 3600


@pytest.fixture
def clock(transactional_db: None) -> Iterator[Clock]:
    """Noon, until it is moved."""
    with movable_database_clock():
        moved = Clock(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0))
        yield moved
        moved.stop()


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    with push_service(settings) as running:
        yield running


def browser_of(person: User, service: PushService) -> FakeBrowser:
    browser = FakeBrowser(f"{service.origin}/push/one")
    PushSubscriptionFactory(user=person, sealed=push.sealed(json.dumps(browser.subscription)))
    return browser


def shown(browser: FakeBrowser, service: PushService) -> list[dict[str, Any]]:
    push.send_due_pushes()
    return [browser.opened(body) for _, _, body in service.arrived]


def test_a_request_is_shown_with_who_asks_for_what_and_leads_to_itself(
    clock: Clock, person: User, service: PushService
) -> None:
    browser = browser_of(person, service)
    request = ConsentRequestFactory(user=person, app_name="Lunch Finder", binding_message="Lisbon 4711")
    send_mails()

    [message] = shown(browser, service)
    assert message == {
        "title": "Lunch Finder asks to see some of your data",
        "text": "Food and drink",
        "path": f"/consent/requests/{request.request_id}/",
        "tag": "requests",
    }
    assert len(mail.outbox) == 1


def test_several_are_one_message_that_leads_to_the_inbox(clock: Clock, person: User, service: PushService) -> None:
    browser = browser_of(person, service)
    for name in ("Lunch Finder", "Trips", "Trips"):
        ConsentRequestFactory(user=person, app_name=name)
    send_mails()

    [message] = shown(browser, service)
    assert (message["title"], message["text"], message["path"]) == (
        "3 requests wait for your decision", "Lunch Finder, Trips", "/consent/inbox/",
    )  # fmt: skip


@pytest.mark.parametrize(("way", "mails", "pushes"), [("none", 0, 0), ("mail", 1, 0), ("push", 0, 1), ("both", 1, 1)])
def test_each_kind_goes_the_way_that_was_chosen(
    clock: Clock, person: User, service: PushService, way: str, mails: int, pushes: int
) -> None:
    browser = browser_of(person, service)
    AlertSettingsFactory(user=person, requests=way)
    ConsentRequestFactory(user=person)

    assert (send_mails(), send_mails()) == (mails, 0)
    assert len(shown(browser, service)) == pushes
    assert Mail.objects.count() == (0 if way == "none" else 1)
    assert not ConsentRequest.objects.filter(mail_waits=True).exists()


def test_the_night_holds_the_notice_and_not_the_request(clock: Clock, person: User) -> None:
    night = {"quiet_from": time(11), "quiet_to": time(14), "quiet_since": timezone.now()}
    AlertSettingsFactory(user=person, **night)
    ConsentRequestFactory(user=person, app_name="Lunch Finder")
    assert send_mails() == 0
    ConsentRequestFactory(user=person, app_name="Trips")
    clock.advance(HOUR)
    assert (send_mails(), ConsentRequest.objects.filter(status="pending").count()) == (0, 2)
    clock.advance(HOUR)

    assert (send_mails(), send_mails()) == (1, 0)
    assert mail.outbox[0].subject == "2 requests from 2 apps wait for your decision"
    assert AlertSettings.objects.get().quiet_count == 2


def test_what_is_held_keeps_no_worker_busy(clock: Clock, person: User) -> None:
    from accounts.outbox import is_due

    AlertSettingsFactory(user=person, quiet_from=time(11), quiet_to=time(14), quiet_since=timezone.now())
    ConsentRequestFactory(user=person)
    assert is_due()
    send_due_mails()

    assert not is_due()


def test_a_day_is_gathered_into_one_mail(clock: Clock, person: User) -> None:
    AlertSettingsFactory(user=person, gathered_at=time(18))
    for _ in range(3):
        ConsentRequestFactory(user=person)
        assert send_mails() == 0
        clock.advance(HOUR)
    clock.advance(3 * HOUR)

    assert send_mails() == 1
    assert mail.outbox[0].subject.startswith("3 requests")


def read(person: User, **fields: Any) -> Grant:
    """As an app reads for the first time."""
    grant: Grant = ReadFactory(export__grant__request__user=person, **fields).grant
    Grant.objects.filter(pk=grant.pk).update(reads=1, news_waits=True)
    return grant


def test_a_first_read_is_told_once(clock: Clock, person: User) -> None:
    AlertSettingsFactory(user=person, reads="mail", seen_until=timezone.now() - timedelta(days=1))
    read(person, export__grant__request__app_name="Lunch Finder", at=timezone.now())
    assert send_mails() == 0  # another may be committed just now
    clock.advance(120)

    assert (send_mails(), send_mails()) == (1, 0)
    [message] = mail.outbox
    assert message.subject == "What apps did with your data"
    assert "- Lunch Finder read this for the first time: Food and drink\n" in message.body


def test_a_later_read_and_an_older_one_are_no_news(clock: Clock, person: User) -> None:
    AlertSettingsFactory(user=person, reads="mail", seen_until=timezone.now() - timedelta(hours=2))
    older = read(person, at=timezone.now() - timedelta(days=1))
    ReadFactory(export=older.exports.get(), at=timezone.now())
    Grant.objects.filter(pk=older.pk).update(reads=2)
    clock.advance(120)

    assert send_mails() == 0
    assert not Grant.objects.filter(news_waits=True).exists()


def test_newer_values_are_told_where_somebody_wants_it(clock: Clock, person: User, service: PushService) -> None:
    browser = browser_of(person, service)
    AlertSettingsFactory(user=person, updates="push", seen_until=timezone.now() - timedelta(days=1))
    made = ExportFactory(
        grant__request__user=person, grant__request__app_name="Trips", revision=2, sealed_at=timezone.now()
    )
    Grant.objects.filter(pk=made.grant_id).update(news_waits=True)
    clock.advance(120)

    assert send_mails() == 0
    [message] = shown(browser, service)
    assert (message["text"], message["path"]) == ("Trips got newer values: Food and drink", "/consent/history/")


def test_who_chose_nothing_hears_nothing_of_reads(clock: Clock, person: User) -> None:
    read(person, at=timezone.now())
    clock.advance(120)

    assert send_mails() == 0
    assert not Grant.objects.filter(news_waits=True).exists()


def test_the_first_read_alone_is_news(clock: Clock, api: Developer, grant: Grant) -> None:
    def news() -> bool:
        return Grant.objects.get(pk=grant.pk).news_waits

    assert not news()
    path = f"/consent-export?request_id={grant.request.request_id}"
    assert api.get(path).status_code == 200
    assert news()
    Grant.objects.update(news_waits=False)
    assert api.get(path).status_code == 200
    assert not news()


def ending(person: User, **fields: Any) -> Grant:
    """A grant of a month that ends tomorrow."""
    given = {"request__access_duration": 30 * 86400, "starts_at": timezone.now() - timedelta(days=29)}
    made: Grant = GrantFactory(
        request__user=person, expires_at=timezone.now() + timedelta(days=1), **{**given, **fields}
    )
    return made


def test_a_reminder_leads_to_what_extends_it(clock: Clock, person: User, service: PushService) -> None:
    browser = browser_of(person, service)
    AlertSettingsFactory(user=person, requests="none")
    grant = ending(person, request__app_name="Lunch Finder")
    again = ConsentRequestFactory(user=person, app=grant.app, scope=grant.scope, scope_entry=grant.request.scope_entry)
    send_mails()

    [message] = shown(browser, service)
    assert (message["title"], message["path"]) == (
        "Sharing with Lunch Finder ends soon", f"/consent/requests/{again.request_id}/",
    )  # fmt: skip
    assert "To extend it" in mail.outbox[0].body
    assert f"/consent/requests/{again.request_id}/\n" in mail.outbox[0].body


def test_several_reminders_name_what_extends_each(clock: Clock, person: User) -> None:
    AlertSettingsFactory(user=person, requests="none")
    grant = ending(person)
    ending(person)
    again = ConsentRequestFactory(user=person, app=grant.app, scope=grant.scope, scope_entry=grant.request.scope_entry)

    assert send_mails() == 1
    [line] = [line for line in mail.outbox[0].body.splitlines() if "Extend it" in line]
    assert line.endswith(f"/consent/requests/{again.request_id}/")
