"""The whole way of a person in a real browser; an independent client opens what was approved."""

import pytest
from playwright.sync_api import Page, Response, expect

from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.keys import generate_connector_key
from tests.factories import AppFactory, TokenFactory
from tests.system.browser.people import PASSPHRASE, confirm_code, emulate_authenticator, enter, save, values_shown

pytestmark = [pytest.mark.browser, pytest.mark.without_services]

PASSWORD = "a quiet harbour at night 3"
FOOD = "lifestyle.food"


@pytest.fixture
def client(site: str) -> Client:
    """An app's own backend."""
    return Client(f"{site}/api/v1", TokenFactory(app=AppFactory()).secret)


def sign_up(page: Page) -> None:
    page.goto("/accounts/signup/")
    page.locator("input[name=email]").fill("ann@example.org")
    page.locator("input[name=password1]").fill(PASSWORD)
    page.locator("input[name=password1]").press("Enter")
    page.wait_for_url("**/vault/setup/")


def make_vault(page: Page) -> None:
    """Passphrase and recovery code."""
    page.locator("#new-passphrase").fill(PASSPHRASE)
    page.locator("#passphrase-form button[type=submit]").click()
    confirm_code(page)


def _is_notes_written(response: Response) -> bool:
    return response.request.method == "PUT" and response.url.endswith("/vault/notes") and response.ok


def enter_first_data(page: Page) -> str:
    """The first form, and what an app would see; returns the sharing ID."""
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    page.locator("#first-lifestyle-food-diet_preference").fill("Vegetarian")
    page.locator("#first-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/preview/")
    expect(page.locator("main")).to_contain_text("Food and drink")
    expect(page.locator("main")).not_to_contain_text("Thai")
    with page.expect_response(_is_notes_written):  # the vault remembers it; on a page that is left, it might not
        page.get_by_role("button", name="Make a sharing ID").click()
    return page.locator("#sharing-id").inner_text()


def test_from_sign_up_to_an_app_that_reads_exactly_what_was_approved_until_it_is_stopped(
    page: Page, client: Client
) -> None:
    sign_up(page)
    make_vault(page)
    user_id = enter_first_data(page)
    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "coffee_or_tea", "tea")
    save(page, "food")

    key = generate_connector_key()
    assert "attr.lifestyle.food.*" in client.discover(user_id).scopes
    made_request = client.request_consent(
        user_id, "attr.lifestyle.food.*", purpose="Suggest restaurants near your hotel", key=key, access_duration=604800
    )
    page.goto("/consent/inbox/")
    page.get_by_role("link", name="asks what you eat").click()
    page.get_by_role("link", name="See the values and decide").click()
    expect(page.locator(f"[data-path='{FOOD}.favorite_cuisine'] .v")).to_have_text("Thai")
    assert values_shown(page) == {
        f"{FOOD}.diet_preference": "Vegetarian", f"{FOOD}.favorite_cuisine": "Thai", f"{FOOD}.coffee_or_tea": "Tea",
    }  # fmt: skip
    page.locator(f"input[value='{FOOD}.coffee_or_tea']").uncheck()
    page.locator(".term[popovertarget=until-choices]").click()
    page.get_by_role("radio", name="1 day").check()
    page.locator("#until-choices").get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    read = client.read(made_request, key)
    assert read.data == {"lifestyle": {"food": {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai"}}}
    assert set(read.approved_attributes) == {f"{FOOD}.diet_preference", f"{FOOD}.favorite_cuisine"}
    page.goto("/consent/history/?kind=reads")
    expect(page.locator(".event-title")).to_have_count(1)

    page.get_by_role("link", name="Apps", exact=True).click()  # stopping is two clicks
    page.get_by_role("button", name="Stop everything").click()
    expect(page.locator(".messages")).to_contain_text("cannot be recalled")
    with pytest.raises(Problem) as refused:
        client.read(made_request, key)
    assert refused.value.code == "grant_ended"


def test_too_easy_a_passphrase_makes_nothing(page: Page) -> None:
    sign_up(page)
    page.locator("#new-passphrase").fill("password1234")
    page.locator("#passphrase-form button[type=submit]").click()
    expect(page.locator("#passphrase-form [data-error]")).to_contain_text("too easy to guess")
    expect(page.locator("#new-passphrase")).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide passphrase").click()
    expect(page.locator("#new-passphrase")).to_have_attribute("type", "password")

    page.goto("/vault/")
    page.wait_for_url("**/vault/setup/")


def test_a_passkey_that_opens_no_vault_is_said_and_nothing_is_made(page: Page) -> None:
    emulate_authenticator(page, prf=False)
    sign_up(page)
    page.get_by_role("button", name="Go on with a passkey").click()

    expect(page.locator("#passkey-form [data-error]")).to_contain_text("cannot unlock your data")
    page.reload()
    expect(page.locator("#new-passphrase")).to_be_visible()
