"""Which passwords are refused, how long a link and a session last, and what the log says of sign-ins."""

import logging
import re
from datetime import timedelta

import pytest
import time_machine
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Session, User
from tests.factories.accounts import PASSWORD
from tests.staff import give_second_factor


@pytest.mark.parametrize(
    "password",
    [
        "ConsentRuntime2026!",
        "consent-consent-1",
        "localhost#2026",
        "vault vault vault",
        "myconsentvault99",
        "1qaz2wsx3edc",
    ],
)
def test_common_passwords_and_words_of_the_service_are_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)

    assert [error.code for error in refused.value.error_list] == ["password_too_common"]


@pytest.mark.parametrize("password", ["a quiet harbour at night 3", "consent of the harbour", "9174820365-x", "a" * 64])
def test_other_passwords_are_taken(password: str) -> None:
    validate_password(password)


def test_a_link_for_a_forgotten_password_works_for_an_hour(person: User) -> None:
    token = default_token_generator.make_token(person)

    with time_machine.travel(timezone.now() + timedelta(minutes=59)):
        assert default_token_generator.check_token(person, token)
    with time_machine.travel(timezone.now() + timedelta(minutes=61)):
        assert not default_token_generator.check_token(person, token)


@pytest.mark.parametrize(("days", "is_signed_in"), [(29, True), (31, False)])
def test_a_session_ends_thirty_days_after_the_sign_in_however_much_it_is_used(
    person: User, days: int, is_signed_in: bool
) -> None:
    browser = Client()
    browser.force_login(person)
    now = timezone.now()
    Session.objects.update(created_at=now - timedelta(days=days), expires_at=now + timedelta(days=14))

    assert (browser.get("/consent/").status_code == 200) is is_signed_in


def test_the_log_tells_of_each_sign_in_and_names_no_address(person: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    browser = Client()

    browser.post(reverse("account_login"), {"login": person.email, "password": "wrong"})
    browser.post(reverse("account_login"), {"login": "nobody@example.org", "password": "wrong"})
    browser.post(reverse("account_login"), {"login": person.email, "password": PASSWORD})

    messages = [record.getMessage() for record in caplog.records if record.name.startswith("accounts.sign_in")]
    assert messages == [
        f"A password was wrong: {person.public_id}",
        "A password was wrong: no account",
        f"A password was right: {person.public_id}",
        f"{person.public_id} signed in: password",
    ]
    assert "@" not in caplog.text.replace(" @ ", "")


def test_a_reset_signs_nobody_in_and_keeps_the_second_factor(person: User, mailoutbox: list[EmailMessage]) -> None:
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    give_second_factor(person)
    browser = Client()
    browser.post(reverse("account_reset_password"), {"email": person.email})
    link = re.search(r"https?://[^/]+(/\S+)", str(mailoutbox[-1].body))
    assert link is not None
    form = browser.get(link[1], follow=True)

    new = "another quiet harbour 7"
    browser.post(form.request["PATH_INFO"], {"password1": new, "password2": new})

    assert browser.get("/consent/").status_code == 302
    answer = browser.post(reverse("account_login"), {"login": person.email, "password": new})
    assert answer.headers["Location"].startswith(reverse("mfa_authenticate"))
    assert browser.get("/consent/").status_code == 302
