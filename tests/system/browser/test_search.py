"""Search over opened data, one step back after a save, and what each card tells about apps, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from consent.requests.models import ConsentRequest
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory, Vault, give_vault
from tests.system.browser.people import PASSPHRASE, SignIn, enter, lock, save, unlock

pytestmark = pytest.mark.browser
VALUES = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thaï", "constructor": "odd", "nothing": None},
    ("location", "home"): {"city": "Åbo", "address": "<b>Rue</b> 1"},
}


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), VALUES, passphrase=PASSPHRASE)


@pytest.fixture
def overview(page: Page, sign_in: SignIn, vault: Vault) -> Page:
    sign_in(page, vault.user, at="/vault/")
    expect(page.locator("#data-search")).to_be_hidden()
    unlock(page)
    expect(page.locator("[data-domain=location]")).to_contain_text("Åbo")
    return page


def test_what_is_typed_is_found_at_once_and_nothing_is_sent(overview: Page) -> None:
    sent: list[str] = []
    overview.on("request", lambda request: sent.append(request.url))
    box = overview.get_by_role("searchbox", name="Search in my data")
    found = overview.locator("[data-found] li")

    box.press_sequentially("abo")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Åbo")
    expect(overview.locator("[data-count]")).to_have_text("1 found")
    expect(overview.locator("#domains")).to_be_hidden()
    box.fill("thai food lifestyle")
    expect(found).to_have_count(0)
    box.fill("THAI lifestyle")
    expect(found).to_have_count(1)
    box.fill("<b>")
    expect(found).to_contain_text("<b>Rue</b> 1")
    box.fill("odd")
    expect(found).to_contain_text("Constructor")
    box.fill("zebra")
    expect(overview.get_by_text("Nothing found")).to_be_visible()
    box.press("Escape")
    expect(overview.locator("#domains")).to_be_visible()
    expect(found).to_have_count(0)
    assert sent == []


def test_keys_lead_to_the_field_that_was_found(overview: Page) -> None:
    overview.get_by_role("searchbox").fill("åbo")
    overview.keyboard.press("ArrowDown")
    overview.keyboard.press("Enter")
    expect(overview.locator("#f-home-city")).to_be_focused()
    expect(overview.locator("#f-home-city")).to_have_value("Åbo")


def test_locking_takes_what_was_found_away(overview: Page) -> None:
    overview.get_by_role("searchbox").fill("abo")
    expect(overview.locator("[data-found] li")).to_have_count(1)
    lock(overview)
    expect(overview.locator("[data-found] li")).to_have_count(0)
    expect(overview.locator("#data-search")).to_be_hidden()


def test_saved_value_is_taken_back(overview: Page, vault: Vault) -> None:
    overview.goto("/vault/data/lifestyle/")
    enter(overview, "food", "favorite_cuisine", "Korean")
    enter(overview, "food", "diet_preference", "Vegan")
    save(overview, "food")
    overview.get_by_role("button", name="Undo").click()
    expect(overview.locator("#f-food-favorite_cuisine")).to_have_value("Thaï")
    expect(overview.locator("#f-food-diet_preference")).to_have_value("")
    overview.reload()
    expect(overview.locator("#f-food-favorite_cuisine")).to_have_value("Thaï")
    expect(overview.locator("#f-food-constructor")).to_have_value("odd")


def test_a_null_that_nobody_touched_stays(overview: Page) -> None:
    overview.goto("/vault/data/lifestyle/")
    enter(overview, "food", "favorite_cuisine", "Korean")
    save(overview, "food")
    kept = overview.evaluate(
        """async () => {
          const { openAll } = await import("/static/js/vault/vault.js");
          return (await openAll({ domain: "lifestyle" }))[0].values;
        }"""
    )
    assert kept == {"favorite_cuisine": "Korean", "constructor": "odd", "nothing": None}


def test_cards_name_who_may_see_and_who_asked(overview: Page, vault: Vault) -> None:
    consent_request: ConsentRequest = ConsentRequestFactory(user=vault.user)
    grant = GrantFactory(request__user=vault.user, request__scope="attr.location.home.*")
    overview.reload()
    expect(overview.locator("[data-domain=lifestyle]")).to_contain_text(
        f"waits for your answer: {consent_request.app_name}"
    )
    expect(overview.locator("[data-domain=lifestyle]")).to_contain_text("No app may see it now")
    expect(overview.locator("[data-domain=location]")).to_contain_text(f"see some of it now: {grant.app.name}")
