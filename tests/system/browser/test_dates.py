"""Dates as they are written where the reader is, in the language of the page."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.factories import PersonFactory, give_vault
from tests.system.browser.people import PASSPHRASE, SignIn, kept, unlock

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("locale", "written"),
    [
        ("en-GB", r"^[0-9]{1,2} [A-Z][a-z]+ 20[0-9]{2}, [0-9]{2}:[0-9]{2}$"),
        ("en-US", r"^[A-Z][a-z]+ [0-9]{1,2}, 20[0-9]{2}, [0-9]{1,2}:[0-9]{2}\s[AP]M$"),
        ("de-DE", r"^[0-9]{2}\.[0-9]{2}\.20[0-9]{2}, [0-9]{2}:[0-9]{2}$"),
    ],
)
def test_a_date_is_written_as_in_the_readers_region(
    new_profile: Callable[..., BrowserContext], sign_in: SignIn, site: str, locale: str, written: str
) -> None:
    page = new_profile(locale=locale).new_page()
    sign_in(page, PersonFactory())
    page.goto("/accounts/sessions/")

    expect(page.locator("main time[data-local]").first).to_have_text(re.compile(written))


@pytest.mark.parametrize(
    ("locale", "written"), [("en-GB", "17 May 1990"), ("en-US", "May 17, 1990"), ("de-DE", "17. Mai 1990")]
)
def test_a_day_among_ones_data_is_written_so_too(
    new_profile: Callable[..., BrowserContext], sign_in: SignIn, locale: str, written: str
) -> None:
    no_day = "1990-02-31"
    data = {("identity", "basic"): {"birth_date": "1990-05-17", "full_name": no_day}}
    page = new_profile(locale=locale).new_page()
    sign_in(page, give_vault(PersonFactory(), data, passphrase=PASSPHRASE).user, at="/vault/")
    unlock(page)

    expect(page.locator("main")).to_contain_text(written)
    expect(page.locator("main")).to_contain_text(no_day)


@pytest.mark.parametrize(("born", "kind"), [("1990-05-17", "date"), ("17.5.90", "text")])
def test_a_birthday_is_entered_as_a_day_and_half_of_one_takes_nothing_away(
    profile: BrowserContext, sign_in: SignIn, born: str, kind: str
) -> None:
    page = profile.new_page()
    vault = give_vault(PersonFactory(), {("identity", "basic"): {"birth_date": born}}, passphrase=PASSPHRASE)
    sign_in(page, vault.user, at="/vault/data/identity/")
    unlock(page)
    field = page.locator("#f-basic-birth_date")
    expect(field).to_have_attribute("type", kind)
    expect(field).to_have_value(born)
    if kind == "text":
        return

    field.press("Backspace")
    page.locator("#basic [data-save]").click()

    expect(page.locator("#basic")).to_contain_text("Give the whole date: day, month and year.")
    assert kept(vault) == {"identity.basic": {"birth_date": born}}
