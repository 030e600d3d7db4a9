"""When somebody counts as having just shown that it is them."""

import time

import pytest
from django.test import Client
from django.urls import reverse

from tests.callers import signed_in

FORM = {"email": "ann@example.org", "password1": "a quiet harbour at night 3"}


@pytest.fixture
def newcomer(db):
    client = Client()
    assert client.post(reverse("account_signup"), FORM).headers["Location"] == "/vault/setup/"
    return client


def test_signing_up_counts_as_a_fresh_sign_in(newcomer):
    assert newcomer.get("/account/security/").context["fresh"] is True


def test_signing_up_is_not_fresh_for_ever(newcomer):
    session = newcomer.session
    session["account_authentication_methods"] = [
        {**record, "at": time.time() - 601} for record in session["account_authentication_methods"]
    ]
    session.save()
    assert newcomer.get("/account/security/").context["fresh"] is False


@pytest.mark.parametrize(("seconds", "fresh"), [(0, True), (590, True), (610, False)])
def test_sign_in_is_fresh_for_ten_minutes(person, seconds, fresh):
    assert signed_in(person, seconds_ago=seconds).get("/account/security/").context["fresh"] is fresh


def test_session_without_any_record_is_not_fresh(person):
    client = Client()
    client.force_login(person)
    assert client.get("/account/security/").context["fresh"] is False


def test_an_address_longer_than_one_can_be_is_told(db):
    page = Client().post(reverse("account_signup"), FORM | {"email": "a" * 243 + "@example.org"})
    assert page.context["form"].errors["email"] == ["Ensure this value has at most 254 characters (it has 255)."]
