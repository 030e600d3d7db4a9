"""Neither signing up, nor a forgotten password, nor signing in tells a stranger who has an account."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.accounts.people import Browser
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.fakes.mail import mail_server
from tests.served_site import ROOT, running_site

NEW = "a quiet harbour at night 3"
MEMBER, STRANGER = "somebody@example.org", "stranger@example.org"  # as long as each other
_CHANGING = re.compile(r'(csrfmiddlewaretoken" value|name="csrf-token" content|data-session-tag)="[^"]+"')


@pytest.fixture(autouse=True)
def confirming(settings: Any, db: None) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


@pytest.fixture
def person(db: None) -> User:
    made: User = PersonFactory(email=MEMBER)
    return made


def comparable(answer: Any, email: str) -> tuple[int, str, list[str], str]:
    """All that a caller hears, but for what differs between any two answers."""
    page = _CHANGING.sub("", answer.content.decode()).replace(email, "…")
    headers = sorted(
        f"{name}: {value}" for name, value in answer.headers.items() if name not in ("Expires", "X-Request-Id")
    )
    return answer.status_code, page, headers, ",".join(sorted(answer.cookies))


def walked(path: str, email: str, form: dict[str, str]) -> list[tuple[int, str, list[str], str]]:
    """What is said to the form and on the page that follows."""
    client = Client()
    answer = client.post(path, form)
    heard = [comparable(answer, email)]
    if answer.status_code == 302:
        heard.append(comparable(client.get(answer["Location"]), email))
    return heard


@pytest.mark.parametrize("name", ["account_signup", "account_reset_password", "account_login"])
def test_known_and_unknown_addresses_hear_the_same(name: str, person: User) -> None:
    forms = {
        "account_signup": lambda email: {"email": email, "password1": NEW},
        "account_reset_password": lambda email: {"email": email},
        "account_login": lambda email: {"login": email, "password": "wrong-and-long"},
    }

    known, unknown = (walked(reverse(name), email, forms[name](email)) for email in (person.email, STRANGER))

    assert known == unknown


def test_a_password_that_is_refused_is_refused_for_both(person: User) -> None:
    known, unknown = (
        walked(reverse("account_signup"), email, {"email": email, "password1": "password12"})
        for email in (person.email, STRANGER)
    )

    assert known == unknown
    assert known[0][0] == 200


def test_signing_up_hashes_once_for_both(settings: Any) -> None:
    """The hash is by far the most of the time that it takes."""
    hashed: list[int] = []

    class Counting(Argon2PasswordHasher):
        def encode(self, *given: Any) -> str:
            hashed.append(1)
            return super().encode(*given)

    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    globals()["Counting"] = Counting
    counts = []
    for email in (PersonFactory().email, STRANGER):
        hashed.clear()
        assert Client().post(reverse("account_signup"), {"email": email, "password1": NEW}).status_code == 302
        counts.append(len(hashed))

    assert counts == [1, 1]


def test_strangers_cause_a_few_mails_and_hear_the_same(person: User, settings: Any) -> None:
    heard = [
        [walked(reverse("account_reset_password"), email, {"email": email}) for _ in range(5)]
        for email in (person.email, STRANGER)
    ]

    assert heard[0] == heard[1] == [heard[0][0]] * 5
    assert [len([message for message in mail.outbox if message.to == [to]]) for to in (person.email, STRANGER)] == [
        3,
        3,
    ]


def test_one_network_asks_for_a_few_resets_of_one_account(person: User) -> None:
    def ask(email: str, there: str) -> int:
        return Client().post(reverse("account_reset_password"), {"email": email}, REMOTE_ADDR=there).status_code

    assert [ask(person.email, "192.0.2.1") for _ in range(6)] == [302] * 5 + [429]
    assert [ask(STRANGER, "192.0.2.1") for _ in range(6)] == [302] * 5 + [429]
    assert ask(person.email, "192.0.2.2") == 302


def test_somebody_signed_in_cannot_mail_the_world(person: User) -> None:
    client = Client()
    client.post(reverse("account_login"), {"login": person.email, "password": PASSWORD})
    client.post(reverse("account_login"), {"login": person.email, "password": PASSWORD})
    client.force_login(person)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    mail.outbox.clear()

    statuses = [
        client.post(reverse("account_email"), {"email": f"any{number}@example.org", "action_add": ""}).status_code
        for number in range(21)
    ]

    assert statuses == [302] * 20 + [429]
    assert len([message for message in mail.outbox if message.to != [person.email]]) == 20


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "optional"),
        ({"EMAIL_URL": "smtp://127.0.0.1:25"}, "mandatory"),
        ({"EMAIL_URL": "smtp://127.0.0.1:25", "EMAIL_VERIFICATION": "optional"}, "optional"),
        ({"EMAIL_VERIFICATION": "Mandatory"}, "mandatory"),
        ({"EMAIL_VERIFICATION": "sometimes"}, "must be one of none, optional, mandatory"),
    ],
)
def test_addresses_are_confirmed_where_mail_is_configured(given: dict[str, str], expected: str) -> None:
    command = [sys.executable, "-c", "from config import settings; print(settings.ACCOUNT_EMAIL_VERIFICATION)"]
    environment = {**os.environ, **given}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert expected in done.stdout + done.stderr


def test_signing_up_goes_on_after_the_mail(transactional_db: None) -> None:
    """The whole way, with a server that is told nothing but where the mail server is."""
    form = {"email": "ann@example.org", "password1": NEW}
    with mail_server() as post, running_site(EMAIL_URL=post.url) as site:
        browser, elsewhere = Browser("203.0.113.7"), Browser("203.0.113.7")
        sent = browser.submit(site, "/accounts/signup/", form)
        assert sent.headers["Location"] == "/accounts/confirm-email/"
        assert browser.sign_in(site, "ann@example.org", NEW).headers["Location"] == "/accounts/confirm-email/"
        [message, *_] = post.to("ann@example.org")
        link = re.search(rf"{site}(/accounts/confirm-email/\S+/)", message.get_content())
        assert link is not None

        confirmed = elsewhere.submit(site, link[1], {})
        assert confirmed.headers["Location"] == "/accounts/login/?next=%2Fvault%2Fsetup%2F"
        form_of_sign_in = {"login": "ann@example.org", "password": NEW, "next": "/vault/setup/"}
        arrived = elsewhere.submit(site, confirmed.headers["Location"], form_of_sign_in)
        assert arrived.headers["Location"] == "/vault/setup/"
        assert elsewhere.session.get(f"{site}/vault/setup/").status_code == 200

        again = Browser("203.0.113.7").submit(site, "/accounts/signup/", form)
        assert (again.status_code, again.headers["Location"]) == (302, sent.headers["Location"])
        assert "There is one already." in post.to("ann@example.org")[-1].get_content()
