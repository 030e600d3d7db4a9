"""Deleting the account and keeping it after all, in a real browser: by keyboard, on a phone, light and dark."""

from urllib.parse import urlsplit

import pytest
from django.core import mail
from playwright.sync_api import Page, expect

from accounts.models import Erasure, User
from tests.factories import AppFactory, ExportFactory, MemberFactory, PersonFactory, StaffFactory, give_vault
from tests.outbox import send_mails
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Complaints, Themes, axe_findings_in, faults_at
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser
DELETE = "/account/delete/"


@pytest.fixture
def person(site: str) -> User:
    """Somebody with a vault, whom an app reads."""
    made: User = give_vault(PersonFactory()).user
    ExportFactory(grant__request__user=made)
    return made


def ask(page: Page, person: User) -> None:
    page.goto(DELETE)
    page.locator("#address").fill(person.email)
    page.locator("#address").press("Enter")
    expect(page.get_by_role("button", name="Keep my account")).to_be_visible()


def link_of_the_mail() -> str:
    send_mails()
    (address,) = [word for word in mail.outbox[-1].body.split() if "/account/delete/undo/" in word]
    parts = urlsplit(address)
    return f"{parts.path}#{parts.fragment}"


@pytest.mark.long("in both themes; in short in the light one")
def test_every_state_of_the_pages_is_sound_on_a_phone(
    new_profile: NewProfile, sign_in: SignIn, person: User, complaints: Complaints, themes: Themes
) -> None:
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, person)
    found = faults_at(page, DELETE, themes)
    with complaints.expecting(400):
        page.locator("#address").fill("else@example.org")
        page.locator("#address").press("Enter")
        expect(page.locator("#address-wrong")).to_be_visible()
        expect(page.locator("#address")).to_be_focused()
        expect(page.locator("#address")).to_have_value("else@example.org")
        found += axe_findings_in(themes, page)
    ask(page, person)
    found += faults_at(page, DELETE, themes)
    secret_page = link_of_the_mail()
    found += faults_at(page, secret_page, themes)
    page.get_by_role("button", name="Keep my account").click()
    expect(page.locator("h1")).to_have_text("Your account stays")
    found += axe_findings_in(themes, page)
    with complaints.expecting(404):
        page.goto("about:blank")
        page.goto(secret_page)
        page.get_by_role("button", name="Keep my account").click()
        expect(page.locator("h1")).to_have_text("This link is over")
        expect(page.get_by_role("link", name="To the start page")).to_be_visible()
        found += axe_findings_in(themes, page)
    MemberFactory(app=AppFactory(), user=person)
    found += faults_at(page, DELETE, themes)
    expect(page.locator("main")).to_contain_text("You are the only owner")

    assert found == []
    assert Erasure.objects.get().cancelled_at is not None


def test_a_person_deletes_and_keeps_the_account_by_keyboard(page: Page, sign_in: SignIn, person: User) -> None:
    sign_in(page, person, at="/account/security/")
    page.get_by_role("link", name="Delete the account").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{DELETE}")
    expect(page.locator("main")).to_contain_text("1 app stops reading")
    page.get_by_label(f"Type {person.email} to confirm").focus()
    page.keyboard.type(person.email)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Delete the account")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator(".messages")).to_contain_text("Until then you can keep it")
    expect(page.get_by_role("button", name="Keep my account")).to_have_count(1)
    page.goto("/consent/grants/")
    page.get_by_role("button", name="Keep my account").focus()
    page.keyboard.press("Enter")

    expect(page.locator(".messages")).to_contain_text("Your account stays")
    person.refresh_from_db()
    assert person.leaves_at is None


def test_a_member_of_staff_is_told_what_comes_first(page: Page, sign_in: SignIn) -> None:
    sign_in(page, StaffFactory(), at=DELETE)
    expect(page.locator("#first-title")).to_be_visible()
    expect(page.locator("#address")).to_have_count(0)
