"""Deciding on the sheet: nothing is shared that was not shown, and what is doubtful is the person's to tick."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import BrowserContext, Page, Route, expect

from common.clock import database_now
from common.sql.triggers import lifted
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from consent_bridge.derived import answer
from pkm.registry.models import ScopeEntry
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
from tests.system.browser.remembered import notes_of, write_notes
from tests.system.browser.test_log import rules_of

pytestmark = pytest.mark.browser

FOOD = {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "tea"}
KEPT = {("lifestyle", "food"): FOOD, ("identity", "basic"): {"full_name": "Zoe", "age": 34}}
# Holds the one store of the vault's key in a transaction that goes on until `letGo`: all that read it wait.
KEEP_THE_RECORD_BUSY = """() => new Promise((resolve) => {
  const opening = indexedDB.open("consent-vault", 1);
  opening.onsuccess = () => {
    const store = opening.result.transaction("unlocked", "readwrite").objectStore("unlocked");
    let busy = true;
    window.letGo = () => { busy = false; };
    const again = () => { if (busy) store.get("nothing").onsuccess = again; else opening.result.close(); };
    store.get("nothing").onsuccess = () => { resolve(); again(); };
  };
})"""
SHEETS_VALUES = "**/vault/segments?scope=*"  # by scope, unlike the page before, whose question may come late
DIET, CUISINE = "lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), KEPT, passphrase=PASSPHRASE)


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(
        user=vault.user, required_attributes=[DIET], optional_attributes=[CUISINE], access_seconds=30 * 86400
    )
    return made


def open_and_hold_the_values(page: Page, consent_request: ConsentRequest) -> list[Route]:
    """The sheet of somebody who unlocked before; what it asks the values by, which `let_go` answers."""
    routes: list[Route] = []
    page.goto("/vault/data/identity/")
    unlock(page)
    page.route(SHEETS_VALUES, lambda route: routes.append(route))
    page.goto(address(consent_request))
    return routes


def let_go(page: Page, routes: list[Route]) -> None:
    for route in routes:
        route.continue_()
    page.unroute(SHEETS_VALUES)


def test_pressing_approve_before_the_values_are_there_shows_them_and_decides_nothing(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(page, consent_request.user)
    routes = open_and_hold_the_values(page, consent_request)
    expect(page.locator("#approve")).to_be_enabled()
    page.locator("#approve").click()
    eventually_on(page, lambda: routes, "the question for the values")
    let_go(page, routes)

    expect(page.locator("#data-title")).to_be_focused()
    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Thai")
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_values_that_come_while_approve_is_being_pressed_were_not_looked_at(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(page, consent_request.user)
    routes = open_and_hold_the_values(page, consent_request)
    eventually_on(page, lambda: routes, "the question for the values")
    page.evaluate(KEEP_THE_RECORD_BUSY)  # the page's first question, whether the vault is open, waits meanwhile
    page.locator("#approve").click()
    let_go(page, routes)

    page.evaluate("window.letGo()")

    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Thai")
    expect(page.locator("#data-title")).to_be_focused()
    expect(page.locator("#approve")).to_be_enabled()
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_values_that_come_late_take_no_focus_from_whoever_went_on(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    sign_in(page, consent_request.user, at=address(consent_request))
    routes: list[Route] = []
    page.route(SHEETS_VALUES, lambda route: routes.append(route))
    unlock(page)
    eventually_on(page, lambda: routes, "the question for the values")
    tick = page.locator("input[name=attribute]:enabled").first
    tick.focus()
    for route in routes:
        route.continue_()

    wait_for_values(page)
    expect(tick).to_be_focused()


def test_an_answer_is_shown_and_sealed_and_the_value_behind_it_never_leaves(
    page: Page, sign_in: SignIn, site: str
) -> None:
    adult, born = "identity.basic.age_over_18", "1990-05-17"
    vault = give_vault(PersonFactory(), {("identity", "basic"): {"birth_date": born}}, passphrase=PASSPHRASE)
    entry = ScopeEntry.objects.get(scope=f"attr.{adult}")
    pending = ConsentRequestFactory(
        user=vault.user, scope=entry.scope, derived={adult: entry.derived}, required_attributes=[adult]
    )
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    sign_in(page, pending.user, at=address(pending))
    unlock(page)

    expect(page.locator(f"[data-path='{adult}'] .v")).to_have_text("Yes")
    expect(page.locator(f"[data-path='{adult}'] .k")).to_contain_text("18 or older")
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    opened = opened_copy(pending, 1)
    assert opened.data == {"identity": {"basic": {"age_over_18": True}}}
    assert opened.derived == {adult: entry.derived}
    assert not [body for body in sent if born in body]


def test_the_sheet_says_what_the_app_was_answered_about_the_same_value(page: Page, sign_in: SignIn, site: str) -> None:
    bracket, adult = (f"identity.basic.{name}" for name in ("age_bracket", "age_over_18"))
    vault = give_vault(PersonFactory(), {("identity", "basic"): {"birth_date": "1990-05-17"}}, passphrase=PASSPHRASE)
    entries = {path: ScopeEntry.objects.get(scope=f"attr.{path}") for path in (bracket, adult)}
    first = ConsentRequestFactory(
        user=vault.user, scope=f"attr.{adult}", derived={adult: entries[adult].derived}, required_attributes=[adult]
    )
    sign_in(page, vault.user, at=address(first))
    unlock(page)
    wait_for_values(page)
    expect(page.locator("#own-memory")).not_to_contain_text("already knows")
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    second = ConsentRequestFactory(
        user=vault.user, app=first.app, scope=f"attr.{bracket}", derived={bracket: entries[bracket].derived},
        connector=first.connector,
    )  # fmt: skip

    page.goto(address(second))
    wait_for_values(page)

    expect(page.locator("#own-memory")).to_contain_text("This app already knows: 18 or older: Yes.")


def test_an_answer_is_repeated_until_the_month_is_over(page: Page, sign_in: SignIn, site: str) -> None:
    city, area = "location.home.city", "location.home.postal_area"
    home = {"city": "Bonn", "postal_code": "53113"}
    vault = give_vault(PersonFactory(), {("location", "home"): home}, passphrase=PASSPHRASE)
    pending = ConsentRequestFactory(
        user=vault.user, scope="attr.location.home.*", required_attributes=[city, area], refresh_policy="continuous",
        derived={area: ScopeEntry.objects.get(scope=f"attr.{area}").derived},
    )  # fmt: skip
    sign_in(page, vault.user, at=address(pending))
    unlock(page)
    wait_for_values(page)
    page.locator("#share-unvouched").check()
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    page.goto("/vault/data/location/")
    enter(page, "home", "postal_code", "10115")
    enter(page, "home", "city", "Berlin")
    save(page, "home")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values: City")
    assert opened_copy(pending, 2).data == {"location": {"home": {"city": "Berlin", "postal_area": "53"}}}
    notes = notes_of(vault)
    notes["answers"][pending.app.app_id]["location.home.postal_code"][area][1] = "2026-01"
    write_notes(vault, notes)
    with lifted(connection, rules_of("consent_exports")):
        Export.objects.update(sealed_at=database_now() - timedelta(days=31))

    page.goto("/consent/grants/")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values: Postal area")
    assert opened_copy(pending, 3).data == {"location": {"home": {"city": "Berlin", "postal_area": "10"}}}


def opened_copy(consent_request: ConsentRequest, revision: int) -> sealed.ExportContent:
    """What the app reads of this revision."""
    header = sealed.ExportHeader(
        kid=consent_request.connector_key_id,
        iss=settings.ISSUER,
        sub=consent_request.pairwise_id,
        aud=consent_request.app.app_id,
        request_id=consent_request.request_id,
        scope=consent_request.scope,
        revision=revision,
        request_digest=consent_request.request_digest,
    )
    return sealed.open_export(Export.objects.get(revision=revision).ciphertext, consent_request.connector, header)


@pytest.mark.parametrize("is_required", [True, False], ids=["required", "not ticked yet"])
def test_less_is_one_tap_and_leaves_in_place_of_the_value(page: Page, sign_in: SignIn, is_required: bool) -> None:
    born, bracket, adult = (f"identity.basic.{name}" for name in ("birth_date", "age_bracket", "age_over_18"))
    vault = give_vault(PersonFactory(), {("identity", "basic"): {"birth_date": "1990-05-17"}}, passphrase=PASSPHRASE)
    definitions = {path: ScopeEntry.objects.get(scope=f"attr.{path}").derived for path in (adult, bracket)}
    pending = ConsentRequestFactory(
        user=vault.user, scope=f"attr.{born}", required_attributes=[born] if is_required else None,
        derived=definitions, accepts={born: [adult, bracket]}, app__verified=is_required,
        required_because="We sell wine" if is_required else None,
    )  # fmt: skip
    sign_in(page, pending.user, at=address(pending))
    unlock(page)
    row = page.locator(f"[data-path='{born}']")
    expect(row.locator(".v")).to_have_text(re.compile("1990"))
    expect(row.locator(f"[data-preview='{adult}']")).to_have_text(": Yes")

    expect(row.locator("input[type=checkbox]")).to_be_checked(checked=is_required)
    in_words = answer(definitions[bracket]["rule"], "1990-05-17", database_now().isoformat())

    row.locator(".chip", has_text="Age range").click()

    expect(row.locator(".v")).to_have_text(str(in_words))
    expect(row.locator(".k")).to_contain_text("Age range")
    expect(page.locator("#decision-summary")).to_contain_text("Less than asked for: Age range.")
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    expect(page.locator("main")).to_contain_text("Age range")
    assert Grant.objects.get(request=pending).approved_attributes == [bracket]
    opened = opened_copy(pending, 1)
    assert opened.data == {"identity": {"basic": {"age_bracket": in_words}}}
    assert opened.derived == {bracket: definitions[bracket]}


@pytest.mark.parametrize("button", ["Approve", "Show the values as they are now"])
def test_values_that_changed_meanwhile_are_shown_before_another_press_shares_them(
    page: Page,
    profile: BrowserContext,
    sign_in: SignIn,
    consent_request: ConsentRequest,
    complaints: Complaints,
    button: str,
) -> None:
    sign_in(page, consent_request.user)
    open_unlocked(page, address(consent_request))
    other = profile.new_page()
    other.goto("/vault/data/lifestyle/")
    enter(other, "food", "favorite_cuisine", "Finnish")
    save(other, "food")
    with complaints.expecting(409):
        page.locator("#approve").click()
        expect(page.locator("#review-problem")).to_contain_text("changed somewhere else")

    page.get_by_role("button", name=button, exact=True).click()

    expect(page.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Finnish")
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def test_nothing_is_decided_where_nobody_says_who_vouches(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest
) -> None:
    """The vault's own warning cannot be given then, and a missing one looks like a key that is known."""

    def without_vouching(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "vouching": None})

    sign_in(page, consent_request.user)
    page.goto("/vault/data/identity/")
    unlock(page)
    page.route("**/data", without_vouching)
    page.goto(address(consent_request))
    problem = page.locator("#review-problem")
    expect(problem).to_contain_text("This request is not what it says it is")

    page.locator("#approve").click()

    expect(page.locator("#approve")).not_to_have_attribute("aria-busy", "true")
    expect(problem).to_contain_text("This request is not what it says it is")
    assert not Grant.objects.exists()


def test_enter_on_a_tick_decides_nothing(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(page, consent_request.user)
    open_unlocked(page, address(consent_request))
    page.locator(f"input[value='{CUISINE}']").focus()
    page.evaluate("document.addEventListener('submit', () => { window.submitted = true; }, true)")
    page.keyboard.press("Enter")  # what it submits, it submits at once
    assert page.evaluate("window.submitted") is None
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    expect(page.locator("#approve")).to_be_visible()


# --- ticks ------------------------------------------------------------------------------------------------------------


def test_what_exceeds_the_registration_is_the_persons_to_tick(page: Page, sign_in: SignIn, vault: Vault) -> None:
    """Name and age are everyday data, but the app never said that it would ask for them."""
    pending = ConsentRequestFactory(user=vault.user, scope="attr.identity.*")
    sign_in(page, pending.user)
    open_unlocked(page, address(pending))
    expect(page.locator("input[name=attribute]:checked")).to_have_count(0)
    expect(page.locator("#decision-summary")).to_contain_text("Choose at least one thing to share")

    page.locator("#approve").click()
    expect(page.locator("#review-problem")).to_be_focused()
    expect(page.locator("#review-problem")).to_contain_text("Choose at least one thing to share, or deny.")
    pending.refresh_from_db()
    assert pending.status == "pending"

    page.locator("input[value='identity.basic.age']").check()
    expect(page.locator("#ticked-count")).to_have_text("1 of 4")
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert Grant.objects.get(request=pending).approved_attributes == ["identity.basic.age"]


def test_all_and_none_of_a_long_list(page: Page, sign_in: SignIn, vault: Vault) -> None:
    everything = {("lifestyle", "food"): FOOD, ("lifestyle", "habits"): dict.fromkeys(("eco_friendliness",), "low")}
    user = give_vault(PersonFactory(), {**everything, ("lifestyle", "fitness"): {
        "fitness_routine": "Climbing", "gym_membership": True}}, passphrase=PASSPHRASE).user  # fmt: skip
    pending = ConsentRequestFactory(user=user, scope="attr.lifestyle.*")
    sign_in(page, user, at=address(pending))
    boxes = page.locator("[data-held] input[name=attribute]")
    expect(boxes).to_have_count(6)
    page.get_by_role("button", name="Select none").click()
    expect(page.locator("input[name=attribute]:checked")).to_have_count(0)
    page.get_by_role("button", name="Select all").click()
    expect(page.locator("input[name=attribute]:checked")).to_have_count(6)
    expect(page.locator("#decision-summary")).to_contain_text("6 values to ")


def test_shorter_choice_moves_the_end(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> None:
    sign_in(page, consent_request.user, at=address(consent_request))
    expect(page.locator("#approve")).to_be_enabled()
    until = page.locator("#until time")
    before, words = until.get_attribute("datetime") or "", until.inner_text()
    page.locator(".term[popovertarget=until-choices]").click()
    expect(page.get_by_role("radio", name="1 month")).to_be_checked()
    page.get_by_role("radio", name="1 week").check()
    expect(until).not_to_have_text(words)
    assert (until.get_attribute("datetime") or "") < before
    expect(page.locator("#decision-summary")).to_contain_text(f"until {until.inner_text()}")
