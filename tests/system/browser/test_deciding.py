"""Decisions in a real browser: by keyboard alone, without scripts, in two tabs, on data that changed meanwhile."""

from importlib import import_module

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory, Vault, give_vault
from tests.factories.accounts import PASSWORD
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Complaints, Themes, axe_findings_in
from tests.system.browser.people import PASSPHRASE, SignIn, kept, unlock, values_shown, wait_for_values
from tests.vouched import vouch_for

pytestmark = pytest.mark.browser

CUISINE, DIET, DRINK = (f"lifestyle.food.{name}" for name in ("favorite_cuisine", "diet_preference", "coffee_or_tea"))


@pytest.fixture
def review(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> Page:
    """The page of one request, locked."""
    sign_in(page, consent_request.user, at=f"/consent/requests/{consent_request.request_id}/")
    return page


def test_approve_and_deny_have_the_same_size_and_weight(review: Page) -> None:
    look = """element => { const style = getComputedStyle(element); const box = element.getBoundingClientRect();
        return [box.width, box.height, style.fontSize, style.fontWeight, style.color, style.backgroundColor,
                style.borderTopWidth, style.borderTopColor]; }"""
    approve, deny = (review.get_by_role("button", name=name, exact=True) for name in ("Approve", "Deny"))
    expect(approve).to_be_enabled()
    review.mouse.move(0, 0)
    assert approve.evaluate(look) == deny.evaluate(look)


def test_required_cannot_be_unticked_and_sensitive_is_not_ticked(page: Page, sign_in: SignIn) -> None:
    home = {("location", "home"): {"city": "Turku", "country": "Finland", "dog": "Rex"}}
    vault = give_vault(PersonFactory(), home, passphrase=PASSPHRASE)
    city, country = "location.home.city", "location.home.country"
    consent_request = ConsentRequestFactory(
        user=vault.user, scope="attr.location.home.*", required_attributes=[city], optional_attributes=[country]
    )
    vouch_for(consent_request)
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    unlock(page)

    expect(page.locator(f"[data-path='{country}'] .v")).to_have_text("Finland")
    assert values_shown(page) == {city: "Turku", country: "Finland"}
    expect(page.locator(f"input[value='{city}']")).to_be_checked()
    expect(page.locator(f"input[value='{city}']")).to_be_disabled()
    expect(page.locator(f"input[value='{country}']")).not_to_be_checked()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert Grant.objects.get(request=consent_request).approved_attributes == [city]


def test_own_attribute_is_shared_only_if_ticked(page: Page, sign_in: SignIn) -> None:
    food = {("lifestyle", "food"): {"favorite_cuisine": "Thai", "favourite_dessert": "Mango"}}
    vault = give_vault(PersonFactory(), food, passphrase=PASSPHRASE)
    consent_request = ConsentRequestFactory(user=vault.user)
    own = "lifestyle.food.favourite_dessert"
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    unlock(page)
    expect(page.locator(f"[data-path='{own}'] .v")).to_have_text("Mango")
    expect(page.locator(f"input[value='{own}']")).not_to_be_checked()

    page.locator(f"input[value='{own}']").check()
    page.get_by_role("button", name="Approve").click()

    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert set(Grant.objects.get(request=consent_request).approved_attributes) == {CUISINE, own}


def test_missing_required_attribute_is_entered_on_the_sheet(page: Page, sign_in: SignIn, themes: Themes) -> None:
    vault = give_vault(PersonFactory(), {("lifestyle", "food"): {"favorite_cuisine": "Thai"}}, passphrase=PASSPHRASE)
    consent_request = ConsentRequestFactory(user=vault.user, required_attributes=[DIET])
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")

    expect(page.locator("#decision-summary")).to_contain_text("something that is required is not entered")
    expect(page.locator("#missing")).to_contain_text("once you have entered: Diet")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()

    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert axe_findings_in(themes, page) == []
    enter = page.locator("#enter-form")
    enter.get_by_role("button", name="Keep it in my vault").click()
    expect(enter.get_by_role("alert")).to_have_text("Enter something first.")
    enter.get_by_label("Diet").fill("Vegetarian")
    enter.get_by_role("button", name="Keep it in my vault").click()  # locked: it asks for the key first
    expect(page.locator("#unlock-panel")).to_be_visible()
    unlock(page)
    enter.get_by_role("button", name="Keep it in my vault").click()
    expect(page.locator(f"[data-path='{DIET}'] .v")).to_have_text("Vegetarian")
    wait_for_values(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert kept(vault)["lifestyle.food"] == {"favorite_cuisine": "Thai", "diet_preference": "Vegetarian"}


def test_second_tab_meets_the_decision_of_the_first(
    review: Page, profile: BrowserContext, consent_request: ConsentRequest, complaints: Complaints
) -> None:
    unlock(review)
    expect(review.locator(f"[data-path='{CUISINE}'] .v")).to_have_text("Thai")
    other = profile.new_page()
    other.goto(f"/consent/requests/{consent_request.request_id}/")
    other.get_by_role("button", name="Deny").click()
    expect(other.locator(".outcome h1")).to_have_text("You denied this")

    with complaints.expecting(409):
        review.get_by_role("button", name="Approve").click()
        expect(review.locator("#review-problem")).to_contain_text("decided already")
    review.get_by_role("link", name="Reload the page").click()

    expect(review.locator(".outcome h1")).to_have_text("You denied this")
    assert not Grant.objects.filter(request=consent_request).exists()


def test_page_that_shows_something_else_than_was_asked_seals_nothing(
    review: Page, consent_request: ConsentRequest
) -> None:
    review.evaluate("document.querySelector('[data-shown=purpose]').textContent = 'Something nicer'")
    unlock(review)

    expect(review.locator("#review-problem")).to_contain_text("not what it says it is")
    review.get_by_role("button", name="Approve").click()
    expect(review.locator("#review-problem")).to_contain_text("not what it says it is")
    assert not Grant.objects.filter(request=consent_request).exists()


def test_restricted_data_asks_for_the_password_and_comes_back(
    page: Page, sign_in: SignIn, complaints: Complaints
) -> None:
    spending = {("financial", "signals"): {"spend_bracket": "Middle"}}
    vault = give_vault(PersonFactory(), spending, passphrase=PASSPHRASE)
    consent_request = ConsentRequestFactory(user=vault.user, scope="attr.financial.signals.*")
    vouch_for(consent_request)
    sign_in(page, vault.user)
    _age_sign_in(page)
    page.goto(f"/consent/requests/{consent_request.request_id}/")
    expect(page.locator("main")).to_contain_text("Confirm that it is you before you approve")

    page.get_by_role("link", name="Confirm", exact=True).click()
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(f"**/consent/requests/{consent_request.request_id}/")
    unlock(page)
    expect(page.locator("[data-value]")).to_have_text("Middle")  # pressed earlier, Approve would only show it
    page.locator("input[name=attribute]:enabled").check()
    page.get_by_role("button", name="Approve").click()

    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def _age_sign_in(page: Page) -> None:
    """As if the sign-in had been an hour ago."""
    cookie = next(cookie for cookie in page.context.cookies() if cookie.get("name") == settings.SESSION_COOKIE_NAME)
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key=cookie.get("value"))
    session["account_authentication_methods"] = [
        {**record, "at": record["at"] - 3600} for record in session["account_authentication_methods"]
    ]
    session.save()


def test_renewal_marks_what_is_new_and_ticks_what_was_shared_before(page: Page, sign_in: SignIn, vault: Vault) -> None:
    older = GrantFactory(request__user=vault.user, request__purpose="Suggest lunch places", approved_attributes=[DIET])
    consent_request = ConsentRequestFactory(user=vault.user, app=older.app, connector=older.request.connector)
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")

    expect(page.locator("main")).to_contain_text("You share this already")
    expect(page.locator("main")).to_contain_text("Suggest lunch places")
    changed = page.locator(".vals .is-changed").evaluate_all("rows => rows.map((row) => row.dataset.path)")
    assert set(changed) == {CUISINE, DRINK}
    ticked = page.locator("input[name=attribute]:checked").evaluate_all("boxes => boxes.map((box) => box.value)")
    assert ticked == [DIET]
