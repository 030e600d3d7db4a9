"""The pages of leaving: what they say, who may, and both ways to take it back."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Erasure, User
from developers.members.models import MemberRole
from tests import factories
from tests.callers import signed_in
from tests.outbox import send_mails

PAGE = "/account/delete/"


@pytest.fixture
def fresh(person: User) -> Client:
    """Signed in a moment ago."""
    return signed_in(person).client


def ask(client: Client, person: User) -> Any:
    return client.post(PAGE, {"address": person.email.upper()}, follow=True)


def test_the_page_says_what_becomes_of_grants(fresh: Client, person: User) -> None:
    grant = factories.ExportFactory(grant__request__user=person).grant

    text = fresh.get(PAGE).content.decode()

    assert grant.app.name in text
    assert "They are told" in text or "It is told" in text
    assert f"Type {person.email} to confirm" in text


def test_asking_lets_the_account_wait_with_a_way_back_on_every_page(fresh: Client, person: User) -> None:
    page = ask(fresh, person).content.decode()

    erasure = Erasure.objects.get()
    assert erasure.due_at - erasure.asked_at == timedelta(days=7)
    assert "Keep my account" in page
    title = re.search(r'id="leaving-title">([^<]+)<', fresh.get("/consent/").content.decode())
    assert title
    assert title[1].endswith("(UTC).")  # the day alone is another one where the reader is
    assert "Your account stays" in fresh.post(f"{PAGE}keep/", follow=True).content.decode()
    assert "leaving-title" not in fresh.get("/consent/").content.decode()
    erasure.refresh_from_db()
    assert erasure.cancelled_at is not None


def test_another_address_deletes_nothing(fresh: Client, db: None) -> None:
    answer = fresh.post(PAGE, {"address": "else@example.org"})

    assert answer.status_code == 400
    assert "not the address of this account" in answer.content.decode()
    assert not Erasure.objects.exists()


def test_a_sign_in_that_is_old_is_confirmed_first(client: Client, person: User) -> None:
    client.force_login(person)

    assert "Confirm that it is you" in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"address": person.email}).headers["Location"].startswith("/accounts/reauthenticate/")
    assert not Erasure.objects.exists()


def test_a_second_factor_is_asked_for_where_there_is_one(fresh: Client, person: User) -> None:
    from allauth.mfa.models import Authenticator

    from common.encryption import sealed

    Authenticator.objects.create(user=person, type="totp", data={"secret": sealed("JBSWY3DPEHPK3PXP")})

    assert fresh.post(PAGE, {"address": person.email}).headers["Location"].startswith("/accounts/2fa/reauthenticate/")
    assert not Erasure.objects.exists()


def test_who_alone_owns_an_app_is_told_what_becomes_of_it(fresh: Client, person: User) -> None:
    member = factories.MemberFactory(user=person, role=MemberRole.OWNER)

    assert f"You are the only owner of “{member.app.name}”" in fresh.get(PAGE).content.decode()
    ask(fresh, person)
    assert Erasure.objects.exists()


def test_the_link_of_the_mail_keeps_the_account_without_a_sign_in(person: User, fresh: Client) -> None:
    ask(fresh, person)
    assert send_mails() == 1
    assert send_mails() == 0
    (written,) = mail.outbox
    link = re.search(r"https?://[^/]+(/account/delete/undo/)#(\S+)", written.body)
    assert link is not None
    other, code = Client(), {"code": link[2]}

    assert "with one click" in other.get(link[1]).content.decode()
    assert other.post(link[1]).status_code == 404
    assert other.post(link[1], {"code": "x" * 5000}).status_code == 404
    assert Erasure.objects.get().cancelled_at is None
    assert "Your account stays" in other.post(link[1], code).content.decode()
    assert Erasure.objects.get().cancelled_at is not None
    assert other.post(link[1], code).status_code == 404


def test_what_is_due_is_not_taken_back(fresh: Client, person: User) -> None:
    factories.ErasureFactory(user=person, asked_at=timezone.now() - timedelta(days=8))

    fresh.post(f"{PAGE}keep/")

    assert Erasure.objects.get().cancelled_at is None
