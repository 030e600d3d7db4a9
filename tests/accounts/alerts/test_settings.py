"""Quiet hours, gathering, and the phrase: what goes out when, by the person's own clock."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.alerts import settings as alerts
from accounts.models import AlertSettings, User
from accounts.outbox import send_mail
from tests.callers import sign_in
from tests.factories import AlertSettingsFactory
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
WAYS = {"requests": "both", "endings": "both", "reads": "push", "updates": "none", "security": "both"}


def row(person: User, **fields: Any) -> AlertSettings:
    return AlertSettingsFactory(user=person, **fields)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def held_until(kept: AlertSettings, now: str, oldest: str = "") -> datetime | None:
    alerts.postpone(kept, now=at(now), oldest=at(oldest or now))
    kept.refresh_from_db()
    return kept.held_until


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-27 20:59:59", None),  # 21:59 in Berlin
        ("2026-11-27 21:00:00", "2026-11-28 06:00:00"),
        ("2026-11-28 05:59:59", "2026-11-28 06:00:59"),  # a minute at the least
        ("2026-11-28 06:00:00", None),
        ("2026-03-28 21:30:00", "2026-03-29 05:00:00"),  # the clock goes forward in this night
        ("2026-10-24 20:30:00", "2026-10-25 06:00:00"),  # and back in this
    ],
)
def test_quiet_hours_reach_over_midnight_by_the_persons_clock(person: User, now: str, until: str | None) -> None:
    kept = row(
        person, zone="Europe/Berlin", quiet_from=time(22), quiet_to=time(7), quiet_since=at("2026-01-01 00:00:00")
    )

    assert held_until(kept, now) == (at(until) if until else None)


@pytest.mark.parametrize(
    ("now", "oldest", "until"),
    [
        ("2026-11-27 12:00:00", "2026-11-27 11:00:00", "2026-11-27 18:00:00"),
        ("2026-11-27 18:00:05", "2026-11-27 11:00:00", None),
        ("2026-11-27 18:00:05", "2026-11-27 18:00:03", "2026-11-28 18:00:00"),
        ("2026-11-27 23:00:00", "2026-11-27 11:00:00", None),  # a worker that was away
    ],
)
def test_what_is_gathered_comes_at_its_hour(person: User, now: str, oldest: str, until: str | None) -> None:
    kept = row(person, gathered_at=time(18))

    assert held_until(kept, now, oldest) == (at(until) if until else None)


def test_new_choices_look_anew_at_what_was_held(person: User) -> None:
    kept = row(person, gathered_at=time(18), held_until=at("2036-01-01 00:00:00"))
    alerts.save_settings(by=person, ways=WAYS, phrase="", zone="UTC", quiet=None, gathered_at=None)

    kept.refresh_from_db()
    assert (kept.held_until, kept.gathered_at) == (None, None)


def test_security_is_never_without_mail(person: User) -> None:
    alerts.save_settings(
        by=person, ways=WAYS | {"security": "none"}, phrase="", zone="UTC", quiet=None, gathered_at=None
    )

    assert AlertSettings.objects.get().security == "both"


def test_quiet_hours_that_stay_on_go_on_counting(person: User) -> None:
    night = (time(22), time(7))
    alerts.save_settings(by=person, ways=WAYS, phrase="", zone="UTC", quiet=night, gathered_at=None)
    first = AlertSettings.objects.get()
    alerts.count_kept_back(first, [at("2026-11-27 23:00:00"), at("2026-11-27 12:00:00")])
    alerts.save_settings(by=person, ways=WAYS, phrase="", zone="UTC", quiet=(time(23), time(7)), gathered_at=None)

    kept = AlertSettings.objects.get()
    assert (kept.quiet_count, kept.quiet_since) == (1, first.quiet_since)
    alerts.save_settings(by=person, ways=WAYS, phrase="", zone="UTC", quiet=None, gathered_at=None)
    assert (AlertSettings.objects.get().quiet_count, AlertSettings.objects.get().quiet_since) == (0, None)


def test_each_mail_begins_with_the_phrase_which_is_sealed_at_rest(person: User) -> None:
    alerts.save_settings(by=person, ways=WAYS, phrase="A heron at noon", zone="UTC", quiet=None, gathered_at=None)
    send_mail("account_security/mail/reset", to=person, context={})

    send_mails()
    assert mail.outbox[0].body.startswith("Your phrase: A heron at noon\n\n")
    assert mail.outbox[0].extra_headers["Auto-Submitted"] == "auto-generated"
    assert "heron" not in AlertSettings.objects.get().phrase


def test_the_phrase_goes_to_no_other_address(person: User) -> None:
    alerts.save_settings(by=person, ways=WAYS, phrase="A heron", zone="UTC", quiet=None, gathered_at=None)
    send_mail("account_security/mail/reset", to=person, address="invited@example.org", context={})

    send_mails()
    assert "heron" not in mail.outbox[0].body


def test_the_mail_for_a_forgotten_password_has_it_too(person: User) -> None:
    alerts.save_settings(by=person, ways=WAYS, phrase="A heron", zone="UTC", quiet=None, gathered_at=None)
    Client().post("/accounts/password/reset/", {"email": person.email})

    assert mail.outbox[0].body.startswith("Your phrase: A heron\n\n")


def test_a_day_is_kept_by_the_minute(person: User) -> None:
    kept = row(person, gathered_at=time(18))
    until = held_until(kept, "2026-11-27 17:59:59")

    assert until == at("2026-11-27 18:00:59")
    assert until - at("2026-11-27 17:59:59") == timedelta(minutes=1)


# --- the page --------------------------------------------------------------------------------------------------------


def page_of(person: User) -> Client:
    client = Client()
    sign_in(client, person)
    return client


SENT = {
    **WAYS, "phrase": "A heron", "quiet_from": "22:00", "quiet_to": "07:00", "gathered_at": "", "zone": "Europe/Berlin",
}  # fmt: skip


def test_the_page_keeps_and_shows_what_was_chosen(person: User) -> None:
    client = page_of(person)
    assert client.post("/consent/alerts/", {**SENT, "reads": "both", "weekly": "on"}).status_code == 302

    kept = AlertSettings.objects.get()
    assert (kept.reads, kept.zone, kept.quiet_from, kept.quiet_to) == ("both", "Europe/Berlin", time(22), time(7))
    shown = client.get("/consent/alerts/").content.decode()
    for words in ("A heron", 'value="22:00"', "Europe/Berlin", "Your quiet hours kept back 0 requests since"):
        assert words in shown
    assert "It refused 0 requests since" in shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zone": "Mars/Olympus"}, "We do not know this zone"),
        ({"zone": "../../etc/passwd"}, "We do not know this zone"),
        ({"quiet_to": ""}, "Quiet hours need both times"),
        ({"quiet_to": "22:00"}, "another time than the one they begin at"),
        ({"phrase": "heron\u202e"}, "plain text"),
        ({"requests": "pigeon"}, "pigeon"),
        ({"security": "none"}, "none"),
    ],
)
def test_what_does_not_fit_is_said_and_changes_nothing(person: User, changes: dict[str, str], message: str) -> None:
    answer = page_of(person).post("/consent/alerts/", {**SENT, **changes})

    assert (answer.status_code, AlertSettings.objects.exists()) == (400, False)
    assert message in answer.content.decode()
