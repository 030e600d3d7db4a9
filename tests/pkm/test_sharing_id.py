"""The sharing ID on the person's pages."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import SharingId, User
from accounts.sharing_id import sharing_id_of
from developers.models import AppStatus
from tests.callers import JsonClient
from tests.factories import AppFactory, TestAppFactory, give_vault, invitation_of

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
        assert not re.search(r"\bsh_[a-z2-7]{26}", shown(browser, page))  # a signature may spell "sh_"
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
    assert "Only Lunch Finder can ask you" in shown(browser)

    browser.post(MAKE, {"then": "replace"})

    page = shown(browser)
    assert "The one before it stopped working." in page
    assert first not in page
    assert invitation_of(person) in page
    assert "Only Lunch Finder can ask you" not in page


def bound_to() -> str | None:
    row = SharingId.objects.select_related("app").first()
    return row.app.app_id if row and row.app else None


@pytest.mark.parametrize("written", [" lunch finder ", "Lunch.Example", "app_finder"])
def test_one_made_for_an_app_is_for_that_app(browser: Client, written: str) -> None:
    AppFactory(name="Lunch Finder", app_id="app_finder", proved_domain="lunch.example", domain_proved_at=timezone.now())
    AppFactory(name="Lunch Finder 2")

    browser.post(MAKE, {"then": "make", "app": written})

    assert bound_to() == "app_finder"
    assert "Only Lunch Finder (lunch.example) can ask you with it" in shown(browser)


def test_no_single_app_called_so_changes_nothing(browser: Client, person: User) -> None:
    first = invitation_of(person)
    AppFactory.create_batch(2, name="Twice")
    AppFactory(name="Closed", status=AppStatus.CLOSED)
    TestAppFactory(name="Trial")

    for written in ("Twice", "Closed", "Trial", "Lunch", "lunch.example"):
        browser.post(MAKE, {"then": "replace", "app": written})
        message = "Several apps are called" if written == "Twice" else "There is no app called"
        assert f"{message} “{written}”" in shown(browser)

    assert (invitation_of(person), bound_to()) == (first, None)


def test_a_test_app_is_found_by_its_id(browser: Client) -> None:
    app = TestAppFactory(name="Trial")

    browser.post(MAKE, {"then": "make", "app": app.app_id})

    assert bound_to() == app.app_id


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
