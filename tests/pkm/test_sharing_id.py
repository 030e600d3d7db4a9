"""The sharing ID on the person's pages."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import SharingId, User
from accounts.sharing_ids.queries import sharing_id_of
from tests.callers import JsonClient
from tests.factories import AppFactory, give_vault, invitation_of

PAGE, MAKE = "/vault/", "/vault/sharing-id/"


@pytest.fixture
def browser(owner: JsonClient, person: User) -> Client:
    give_vault(person)
    return owner.client


def shown(browser: Client, page: str = PAGE) -> str:
    return browser.get(page).content.decode()


def test_there_is_none_until_the_person_makes_one(browser: Client, person: User) -> None:
    for page in (PAGE, "/vault/setup/preview/"):
        assert "Make a sharing ID" in shown(browser, page)
        assert "sh_" not in shown(browser, page)
        assert person.public_id not in shown(browser, page).partition("<body")[2]

    answer = browser.post(MAKE, {"then": "make"})

    assert answer["Location"] == "/vault/#sharing-id-title"
    made = invitation_of(person)
    assert made in shown(browser)
    assert browser.get("/vault/sharing-id.svg").status_code == 200
    kept = SharingId.objects.values("digest", "sealed").get()
    assert made not in (kept["digest"], kept["sealed"])


def test_within_the_setup_one_stays_there(browser: Client) -> None:
    assert browser.post(MAKE, {"then": "make", "back": "setup"})["Location"] == "/vault/setup/preview/"
    assert browser.post(MAKE, {"then": "make", "back": "//elsewhere.example"})["Location"].startswith("/vault/#")


def test_a_new_one_takes_its_place_and_the_page_says_so(browser: Client, person: User) -> None:
    first = invitation_of(person)
    SharingId.objects.update(app=AppFactory(name="Lunch Finder"))
    assert "Lunch Finder used it" in shown(browser)

    browser.post(MAKE, {"then": "replace"})

    told = shown(browser)
    assert "The one before it stopped working." in told
    assert first not in told
    assert invitation_of(person) in told
    assert "Lunch Finder used it" not in told


def test_it_is_switched_off(browser: Client, person: User) -> None:
    first = invitation_of(person)

    browser.post(MAKE, {"then": "off"})
    again = browser.post(MAKE, {"then": "off"})

    assert again.status_code == 302
    assert first not in shown(browser)
    assert "Make a sharing ID" in shown(browser)
    assert not SharingId.objects.exists()


def test_one_whose_time_is_over_is_not_shown(browser: Client, person: User) -> None:
    first = invitation_of(person)
    SharingId.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert first not in shown(browser)
    assert "that time is over" in shown(browser)


def test_one_kept_under_a_key_that_is_lost_is_none(browser: Client, person: User) -> None:
    invitation_of(person)
    SharingId.objects.update(sealed="of another server")

    assert sharing_id_of(person) is None
    assert "Make a sharing ID" in shown(browser)
    browser.post(MAKE, {"then": "make"})
    assert sharing_id_of(person) is not None
