"""Deciding on the sheet: nothing is shared that was not shown, and what is doubtful is the person's to tick."""

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from tests.factories import ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import (
    PASSPHRASE,
    SignIn,
    address,
    enter,
    eventually_on,
    open_unlocked,
    save,
    unlock,
    wait_for_values,
)

pytestmark = pytest.mark.browser

FOOD = {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea"}
KEPT = {("lifestyle", "food"): FOOD, ("identity", "basic"): {"full_name": "Zoe", "age": 34}}
# Holds the one store of the vault's key in a transaction that goes on until `letGo`: all that read it wait.
KEEP_THE_RECORD_BUSY = """() => new Promise((resolve) => {
  const asked = indexedDB.open("consent-vault", 1);
  asked.onsuccess = () => {
    const store = asked.result.transaction("unlocked", "readwrite").objectStore("unlocked");
    let held = true;
    window.letGo = () => { held = false; };
    const again = () => { if (held) store.get("nothing").onsuccess = again; else asked.result.close(); };
    store.get("nothing").onsuccess = () => { resolve(); again(); };
  };
})"""
SHEETS_VALUES = "**/vault/segments?scope=*"  # by scope, unlike the page before, whose question may come late
DIET, CUISINE = "lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), KEPT, passphrase=PASSPHRASE)


@pytest.fixture
def asked(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(
        user=vault.user, required_attributes=[DIET], optional_attributes=[CUISINE], access_seconds=30 * 86400
    )
    return made


def open_and_hold_the_values(page: Page, asked: ConsentRequest) -> list[Route]:
    """The sheet of somebody who unlocked before; what it asks the values by, which `let_go` answers."""
    held: list[Route] = []
    page.goto("/vault/data/identity/")
    unlock(page)
    page.route(SHEETS_VALUES, lambda route: held.append(route))
    page.goto(address(asked))
    return held


def let_go(page: Page, held: list[Route]) -> None:
    for route in held:
        route.continue_()
    page.unroute(SHEETS_VALUES)


def test_pressing_approve_before_the_values_are_there_shows_them_and_decides_nothing(
    page: Page, sign_in: SignIn, asked: ConsentRequest
) -> None:
    sign_in(page, asked.user)
    held = open_and_hold_the_values(page, asked)
    expect(page.locator("#approve")).to_be_enabled()
    page.locator("#approve").click()
    eventually_on(page, lambda: held, "the question for the values")
    let_go(page, held)

    expect(page.locator("#data-title")).to_be_focused()
    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Thai")
    asked.refresh_from_db()
    assert asked.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_values_that_come_while_approve_is_being_pressed_were_not_looked_at(
    page: Page, sign_in: SignIn, asked: ConsentRequest
) -> None:
    sign_in(page, asked.user)
    held = open_and_hold_the_values(page, asked)
    eventually_on(page, lambda: held, "the question for the values")
    page.evaluate(KEEP_THE_RECORD_BUSY)  # the page's first question, whether the vault is open, waits meanwhile
    page.locator("#approve").click()
    let_go(page, held)

    page.evaluate("window.letGo()")

    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Thai")
    expect(page.locator("#data-title")).to_be_focused()
    expect(page.locator("#approve")).to_be_enabled()
    asked.refresh_from_db()
    assert asked.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_values_that_come_late_take_no_focus_from_whoever_went_on(
    page: Page, sign_in: SignIn, asked: ConsentRequest
) -> None:
    sign_in(page, asked.user, at=address(asked))
    held: list[Route] = []
    page.route(SHEETS_VALUES, lambda route: held.append(route))
    unlock(page)
    eventually_on(page, lambda: held, "the question for the values")
    tick = page.locator("input[name=attribute]:enabled").first
    tick.focus()
    for route in held:
        route.continue_()

    wait_for_values(page)
    expect(tick).to_be_focused()


@pytest.mark.parametrize("button", ["Approve", "Show the values as they are now"])
def test_values_that_changed_meanwhile_are_shown_before_another_press_shares_them(
    page: Page, profile: BrowserContext, sign_in: SignIn, asked: ConsentRequest, complaints: Complaints, button: str
) -> None:
    sign_in(page, asked.user)
    open_unlocked(page, address(asked))
    other = profile.new_page()
    other.goto("/vault/data/lifestyle/")
    enter(other, "food", "favorite_cuisine", "Finnish")
    save(other, "food")
    with complaints.expecting(409):
        page.locator("#approve").click()
        expect(page.locator("#review-problem")).to_contain_text("changed somewhere else")

    page.get_by_role("button", name=button, exact=True).click()

    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Finnish")
    asked.refresh_from_db()
    assert asked.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_nothing_is_decided_where_nobody_says_who_vouches(page: Page, sign_in: SignIn, asked: ConsentRequest) -> None:
    """The vault's own warning cannot be given then, and a missing one looks like a key that is known."""

    def without_vouching(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "vouching": None})

    sign_in(page, asked.user)
    page.goto("/vault/data/identity/")
    unlock(page)
    page.route("**/data", without_vouching)
    page.goto(address(asked))
    problem = page.locator("#review-problem")
    expect(problem).to_contain_text("This request is not what it says it is")

    page.locator("#approve").click()

    expect(page.locator("#approve")).not_to_have_attribute("aria-busy", "true")
    expect(problem).to_contain_text("This request is not what it says it is")
    assert not Grant.objects.exists()


def test_enter_on_a_tick_decides_nothing(page: Page, sign_in: SignIn, asked: ConsentRequest) -> None:
    sign_in(page, asked.user)
    open_unlocked(page, address(asked))
    page.locator(f"input[value='{CUISINE}']").focus()
    page.evaluate("document.addEventListener('submit', () => { window.submitted = true; }, true)")
    page.keyboard.press("Enter")  # what it submits, it submits at once
    assert page.evaluate("window.submitted") is None
    asked.refresh_from_db()
    assert asked.status == "pending"
    expect(page.locator("#approve")).to_be_visible()


# --- ticks ------------------------------------------------------------------------------------------------------------


def test_what_exceeds_the_registration_is_the_persons_to_tick(page: Page, sign_in: SignIn, vault: Vault) -> None:
    """Name and age are everyday data, but the app never said that it would ask for them."""
    asked = ConsentRequestFactory(user=vault.user, scope="attr.identity.*")
    sign_in(page, asked.user)
    open_unlocked(page, address(asked))
    expect(page.locator("input[name=attribute]:checked")).to_have_count(0)
    expect(page.locator("#decision-summary")).to_contain_text("Choose at least one thing to share")

    page.locator("#approve").click()
    expect(page.locator("#review-problem")).to_be_focused()
    expect(page.locator("#review-problem")).to_contain_text("Choose at least one thing to share, or deny.")
    asked.refresh_from_db()
    assert asked.status == "pending"

    page.locator("input[value='identity.basic.age']").check()
    expect(page.locator("#ticked-count")).to_have_text("1 of 3")
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert Grant.objects.get(request=asked).approved_attributes == ["identity.basic.age"]


def test_all_and_none_of_a_long_list(page: Page, sign_in: SignIn, vault: Vault) -> None:
    everything = {("lifestyle", "food"): FOOD, ("lifestyle", "habits"): dict.fromkeys(("eco_friendliness",), "low")}
    user = give_vault(PersonFactory(), {**everything, ("lifestyle", "fitness"): {
        "fitness_routine": "Climbing", "gym_membership": True}}, passphrase=PASSPHRASE).user  # fmt: skip
    asked = ConsentRequestFactory(user=user, scope="attr.lifestyle.*")
    sign_in(page, user, at=address(asked))
    held = page.locator("[data-held] input[name=attribute]")
    expect(held).to_have_count(6)
    page.get_by_role("button", name="Select none").click()
    expect(page.locator("input[name=attribute]:checked")).to_have_count(0)
    page.get_by_role("button", name="Select all").click()
    expect(page.locator("input[name=attribute]:checked")).to_have_count(6)
    expect(page.locator("#decision-summary")).to_contain_text("6 values to ")


def test_shorter_choice_moves_the_end(page: Page, sign_in: SignIn, asked: ConsentRequest) -> None:
    sign_in(page, asked.user, at=address(asked))
    expect(page.locator("#approve")).to_be_enabled()
    until = page.locator("#until time")
    before, words = until.get_attribute("datetime") or "", until.inner_text()
    page.locator(".term[popovertarget=until-choices]").click()
    expect(page.get_by_role("radio", name="1 month")).to_be_checked()
    page.get_by_role("radio", name="1 week").check()
    expect(until).not_to_have_text(words)
    assert (until.get_attribute("datetime") or "") < before
    expect(page.locator("#decision-summary")).to_contain_text(f"until {until.inner_text()}")
