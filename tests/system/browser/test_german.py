"""The second language in a real browser: its longer words fit, scripts speak it too, and the switch needs no script."""

import pytest
from playwright.sync_api import expect

from tests.system.browser.page_faults import Themes, faults_at
from tests.system.browser.people import NewProfile, SignIn, unlock
from tests.system.browser.test_open_pages import PAGES, someone_with_everything

pytestmark = pytest.mark.browser


@pytest.mark.long("axe reads each page; in short its width alone is measured")
def test_german_pages_fit_a_narrow_phone(new_profile: NewProfile, sign_in: SignIn, long_form: bool) -> None:
    user, requests = someone_with_everything()
    page = new_profile(locale="de-DE", viewport={"width": 320, "height": 640}).new_page()
    sign_in(page, user, at="/vault/data/lifestyle/")
    unlock(page)

    themes: Themes = ["light"] if long_form else []
    assert [line for path in [*PAGES, *requests] for line in faults_at(page, path, themes)] == []
    page.goto(requests[0])
    expect(page.get_by_text("Jederzeit unter Apps zu beenden.")).to_be_visible()


def test_switch_works_without_a_script(new_profile: NewProfile) -> None:
    page = new_profile(java_script_enabled=False).new_page()
    page.goto("/accounts/login/?next=/vault/")
    page.get_by_role("button", name="Deutsch").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Anmelden")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page).to_have_url("/accounts/login/?next=/vault/")
