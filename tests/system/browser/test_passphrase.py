"""The passphrase of a vault is never the password that the server receives: the browser notices."""

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from pkm.vault.models import VaultKey
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD as OF_FACTORIES
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, SignIn, confirm_code
from tests.system.browser.test_trip import PASSWORD, sign_up

pytestmark = pytest.mark.browser
WORDS = "This is the password that you sign in with."


def choose(page: Page, passphrase: str) -> None:
    page.locator("#new-passphrase").fill(passphrase)
    page.locator("#passphrase-form button[type=submit]").click()


def test_the_password_is_refused_as_a_passphrase(page: Page) -> None:
    sign_up(page)

    choose(page, PASSWORD)
    expect(page.locator("#passphrase-form [data-error]")).to_contain_text(WORDS)
    choose(page, f" {PASSWORD} ")
    expect(page.locator("#passphrase-form [data-error]")).to_contain_text(WORDS)
    choose(page, PASSPHRASE)
    expect(page.locator("#step-recovery")).to_be_visible()

    kept = page.evaluate("JSON.stringify({...sessionStorage})")
    assert PASSWORD not in kept
    confirm_code(page)
    page.wait_for_url("**/vault/setup/first/")
    page.goto("/account/security/")
    page.locator("[data-change][data-kind=passphrase]").click()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#new-passphrase").fill(PASSWORD)
    page.locator("#add-form button[type=submit]").click()
    expect(page.locator("#add-form [data-error]")).to_contain_text(WORDS)


def test_a_code_that_was_written_down_slowly_is_still_good(page: Page, sign_in: SignIn, complaints: Complaints) -> None:
    """The sign-in that it then takes opens beside the page, which waits."""
    person = PersonFactory()
    sign_in(page, person, at="/vault/setup/")
    choose(page, PASSPHRASE)
    expect(page.locator("#step-recovery")).to_be_visible()
    grow_old(page)
    way = page.locator("#way-back a")
    with complaints.expecting(403):
        confirm_code(page)
        expect(way).to_have_attribute("target", "_blank")

    with page.context.expect_page() as opened:
        way.click()
    there = opened.value
    there.locator("input[name=password]").fill(OF_FACTORIES)
    there.locator("input[name=password]").press("Enter")
    there.wait_for_url("**/vault/setup/")
    page.locator("#confirm-form button[type=submit]").click()

    page.wait_for_url("**/vault/setup/first/")
    assert VaultKey.objects.filter(user=person).exists()


def grow_old(page: Page) -> None:
    """As if this browser had signed in longer ago than a sensitive step takes."""
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = cookies[settings.SESSION_COOKIE_NAME]
    session = client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**one, "at": one["at"] - 601} for one in records]
    session.save()


def test_what_is_kept_ends_with_the_session(page: Page, sign_in_by_form: SignIn) -> None:
    sign_in_by_form(page, PersonFactory())
    page.goto("/vault/setup/")
    choose(page, OF_FACTORIES)
    expect(page.locator("#passphrase-form [data-error]")).to_be_visible()
    page.goto("/consent/")  # the pages of the first steps have no menu
    assert page.evaluate("sessionStorage.getItem('sign-in-password')") is not None

    page.locator("#sign-out button").first.evaluate("button => button.click()")
    page.wait_for_url(lambda url: "/consent/" not in url)

    assert page.evaluate("sessionStorage.getItem('sign-in-password')") is None
