"""The time zone that a person is written to in."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from accounts.models import AlertSettings, User
from accounts.outbox import send_mail
from accounts.security_mail import Line
from accounts.zones import zone_of
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.outbox import send_mails

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "kept"),
    [("Europe/Berlin", "Europe/Berlin"), ("Moon/Tycho", "UTC"), ("posix/Europe/Berlin", "UTC"), ("", "UTC")],
)
def test_the_zone_of_the_browser_is_kept_at_sign_up(said: str, kept: str) -> None:
    client = Client()
    client.cookies["zone"] = said
    client.post("/accounts/signup/", {"email": "ann@example.org", "password1": PASSWORD, "agreed": "on"})

    assert zone_of(User.objects.get(email="ann@example.org")).key == kept


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", "1 July 2026, 14:00 Europe/Berlin"), ("de", "1. Juli 2026, 14:00 Europe/Berlin")],
)
def test_a_mail_names_times_in_that_zone(mailoutbox: list[Any], language: str, written: str) -> None:
    person = PersonFactory(language=language)
    AlertSettings.objects.create(user=person, zone="Europe/Berlin", seen_until=NOON)
    changes = {"lines": [Line("A passkey was added", NOON)], "site": "http://localhost"}
    send_mail("account_security/mail/changed", to=person, context=changes)
    send_mails()

    assert f"A passkey was added ({written})." in mailoutbox[0].body


def test_who_chose_a_zone_that_is_known_no_more_is_written_to_in_utc(mailoutbox: list[Any]) -> None:
    person = PersonFactory()
    AlertSettings.objects.create(user=person, zone="US/Pacific-New", seen_until=NOON)
    send_mail(
        "account_security/mail/changed", to=person, context={"lines": [Line("x", NOON)], "site": "http://localhost"}
    )
    send_mails()

    assert "12:00 UTC" in mailoutbox[0].body
