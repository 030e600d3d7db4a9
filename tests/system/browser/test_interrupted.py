"""The session ends under a page, or its token does: in a real browser, what was asked waits for one confirmation."""

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import User
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from tests.factories import ConsentRequestFactory, GrantFactory, PersonFactory, Vault, give_vault
from tests.factories.accounts import PASSWORD
from tests.system.browser.conftest import DESKTOP, PHONE
from tests.system.browser.page_faults import Complaints, axe_findings
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, enter, eventually_on, unlock, wait_for_values

pytestmark = pytest.mark.browser
SESSION, TOKEN = settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME
KEPT = "JSON.stringify(sessionStorage)"


def fill_in(page: Page, user: User) -> None:
    """Sign in on the form that is shown, by keyboard."""
    page.locator("input[name=login]").fill(user.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


def tab_to(page: Page, text: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
    raise AssertionError(f"{text} cannot be reached")


def waiting(page: Page) -> Any:
    return page.locator(".waiting")


def wait_for_word_of_the_vault(page: Page) -> None:
    """The page asks once whether its person has a vault, and the session must not end before that is answered."""
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "absent")


@pytest.mark.parametrize(
    ("viewport", "scripts", "lost"),
    [(PHONE, True, [SESSION]), (DESKTOP, True, [SESSION, TOKEN]), (PHONE, False, [SESSION, TOKEN])],
    ids=["phone", "desk", "no scripts"],
)
def test_deny_survives_the_end_of_the_session(
    new_profile: NewProfile, sign_in: SignIn, site: str, viewport: Any, scripts: bool, lost: list[str]
) -> None:
    consent_request = ConsentRequestFactory(user=PersonFactory())
    profile = new_profile(viewport=viewport, java_script_enabled=scripts)
    page = profile.new_page()
    sign_in(page, consent_request.user, at=f"/consent/requests/{consent_request.request_id}/")
    if not scripts:
        expect(page.locator("#decision noscript .decide-words")).to_contain_text("Approving needs JavaScript")
    page.locator("summary", has_text="private note").click()
    page.locator("#id_reason").fill("Not before the trip")
    if scripts:
        wait_for_word_of_the_vault(page)
    for name in lost:
        profile.clear_cookies(name=name)

    page.locator("main").get_by_role("button", name="Deny", exact=True).click()

    expect(page.locator(".messages")).to_contain_text("what you asked for then waits")
    assert page.url.endswith(f"/accounts/login/?next=/consent/requests/{consent_request.request_id}/")
    fill_in(page, consent_request.user)
    assert page.url.endswith(f"/consent/requests/{consent_request.request_id}/")
    expect(waiting(page)).to_contain_text(f"Deny: {consent_request.app_name}")
    expect(waiting(page).locator("[name=reason]")).to_have_value("Not before the trip")
    box = waiting(page).get_by_role("button", name="Deny").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= viewport["height"]  # in the first screen
    if scripts:
        assert axe_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"

    waiting(page).get_by_role("button", name="Deny").click()

    expect(page.locator(".outcome h1")).to_have_text("You denied this")
    expect(waiting(page)).to_have_count(0)
    consent_request.refresh_from_db()
    assert (consent_request.status, consent_request.decided_by, consent_request.decision_note) == (
        "denied",
        "person",
        "Not before the trip",
    )


def test_stop_sharing_survives_it_by_keyboard_alone(profile: BrowserContext, page: Page, sign_in: SignIn) -> None:
    grant = GrantFactory(request__user=PersonFactory())
    here = f"/consent/apps/{grant.app.app_id}/"
    sign_in(page, grant.user, at=here)
    wait_for_word_of_the_vault(page)
    profile.clear_cookies(name=SESSION)

    tab_to(page, "Stop everything")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/accounts/login/?next={here}")
    fill_in(page, grant.user)

    expect(waiting(page)).to_contain_text(f"Stop everything: {grant.app.name}")
    assert Grant.objects.get(pk=grant.pk).status == "active"
    tab_to(page, "Stop everything")
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Sharing has stopped")
    assert Grant.objects.get(pk=grant.pk).status == "revoked"


def test_stop_sharing_without_its_token_is_shown_again(
    profile: BrowserContext, page: Page, sign_in: SignIn, complaints: Complaints
) -> None:
    grant = GrantFactory(request__user=PersonFactory())
    sign_in(page, grant.user, at=f"/consent/apps/{grant.app.app_id}/")
    profile.clear_cookies(name=TOKEN)

    with complaints.expecting(403):
        page.get_by_role("button", name="Stop everything").click()
        expect(page.locator("h1")).to_have_text("Confirm what you asked for")
    expect(page.locator("main")).to_contain_text(f"Stop everything: {grant.app.name}")
    assert axe_findings(page) == []
    page.locator("main").get_by_role("button", name="Stop everything").click()

    expect(page.locator(".messages")).to_contain_text("Sharing has stopped")
    assert Grant.objects.get(pk=grant.pk).status == "revoked"


def test_what_was_typed_when_the_session_ended_is_filled_in_again(
    new_profile: NewProfile, sign_in: SignIn, complaints: Complaints, vault: Vault
) -> None:
    profile = new_profile(viewport=PHONE)
    page = profile.new_page()
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    enter(page, "food", "favorite_cuisine", "Georgian")
    profile.clear_cookies(name=SESSION)

    with complaints.expecting(401, 403):
        page.locator("#food [data-save]").click()
        expect(page.locator("#way-back")).to_contain_text("You are signed out")
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Georgian")
    expect(page.locator("#vault-lock")).to_be_hidden()
    expect(page.locator("#way-back")).to_be_in_viewport()
    assert axe_findings(page) == []
    assert "Georgian" not in page.evaluate("JSON.stringify(sessionStorage)")
    page.locator("#way-back a").click()
    fill_in(page, vault.user)
    assert page.url.endswith("/vault/data/lifestyle/")
    unlock(page)

    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Georgian")
    expect(page.locator("#food [data-state]")).to_contain_text("filled in")
    page.locator("#food [data-save]").click()
    expect(page.locator("#food [data-state]")).to_have_text("Saved")
    page.reload()
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Georgian")
    expect(page.locator("#food [data-state]")).to_have_text("")
    assert "draft" not in page.evaluate(KEPT)


def test_another_person_who_signs_in_finds_nothing_of_it(
    profile: BrowserContext, page: Page, sign_in: SignIn, complaints: Complaints, vault: Vault
) -> None:
    other = give_vault(PersonFactory(), passphrase=PASSPHRASE)
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    enter(page, "food", "favorite_cuisine", "Georgian")
    profile.clear_cookies(name=SESSION)
    with complaints.expecting(401, 403):
        page.locator("#food [data-save]").click()
        page.locator("#way-back a").click()
    fill_in(page, other.user)
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")


DIET = "lifestyle.food.diet_preference"


@pytest.fixture
def lacking(site: str) -> ConsentRequest:
    """A request for something that its person did not enter yet."""
    vault = give_vault(PersonFactory(), {("lifestyle", "food"): {"favorite_cuisine": "Thai"}}, passphrase=PASSPHRASE)
    return ConsentRequestFactory(user=vault.user, required_attributes=[DIET])


def test_what_was_entered_on_the_sheet_is_filled_in_again(
    profile: BrowserContext, page: Page, sign_in: SignIn, complaints: Complaints, lacking: ConsentRequest
) -> None:
    sign_in(page, lacking.user, at=f"/consent/requests/{lacking.request_id}/")
    unlock(page)
    wait_for_values(page)
    entered = page.locator("#enter-form").get_by_label("Diet")
    entered.fill("Vegetarian")
    profile.clear_cookies(name=SESSION)
    with complaints.expecting(401, 403):
        page.get_by_role("button", name="Keep it in my vault").click()
        expect(page.locator("#way-back")).to_contain_text("You are signed out")
        eventually_on(page, lambda: "draft" in page.evaluate(KEPT), "the draft")
        assert "Vegetarian" not in page.evaluate(KEPT)
        page.locator("#way-back a").click()
    fill_in(page, lacking.user)

    expect(entered).to_have_value("")
    unlock(page)
    expect(entered).to_have_value("Vegetarian")
    expect(page.locator("#enter-form")).to_contain_text("before you signed in again is filled in")
    page.get_by_role("button", name="Keep it in my vault").click()
    expect(page.locator(f"[data-path='{DIET}'] .v")).to_have_text("Vegetarian")
    assert "draft" not in page.evaluate(KEPT)


def test_what_was_entered_on_a_locked_sheet_stays_beside_the_sign_in(
    profile: BrowserContext, page: Page, sign_in: SignIn, complaints: Complaints, lacking: ConsentRequest
) -> None:
    """Without the vault's key nothing can be sealed, and what is not sealed is kept nowhere."""
    sign_in(page, lacking.user, at=f"/consent/requests/{lacking.request_id}/")
    page.wait_for_selector("#unlock-panel button[type=submit]:enabled", state="attached")
    entered = page.locator("#enter-form").get_by_label("Diet")
    entered.fill("Vegetarian")
    profile.clear_cookies(name=SESSION)
    with complaints.expecting(401, 403):
        page.get_by_role("button", name="Keep it in my vault").click()
        page.locator("#unlock-passphrase").fill(PASSPHRASE)
        page.locator("#unlock-passphrase").press("Enter")
        expect(page.locator("#way-back")).to_contain_text("What you typed is only on this page")
    assert axe_findings(page) == []
    with profile.expect_page() as opened:
        page.locator("#way-back").get_by_role("link", name="Go on in another tab").click()
    fill_in(opened.value, lacking.user)

    assert opened.value.url == page.url
    expect(entered).to_have_value("Vegetarian")
    assert "Vegetarian" not in page.evaluate("JSON.stringify([sessionStorage, localStorage])")


def test_what_was_ticked_when_the_session_ended_waits_to_be_approved(
    profile: BrowserContext, page: Page, sign_in: SignIn, complaints: Complaints, vault: Vault
) -> None:
    consent_request: ConsentRequest = ConsentRequestFactory(user=vault.user)
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    unlock(page)
    wait_for_values(page)
    page.locator("input[value='lifestyle.food.coffee_or_tea']").uncheck()
    page.locator(".term[popovertarget=until-choices]").click()
    page.locator("input[name=duration]").first.check()
    shortest = page.locator("input[name=duration]").first.get_attribute("value")
    profile.clear_cookies(name=SESSION)
    with complaints.expecting(401, 403):
        page.locator("#approve").click()
        expect(page.locator("#way-back")).to_contain_text("You are signed out")
        page.locator("#way-back a").click()
    fill_in(page, vault.user)

    expect(page.locator("#review-problem")).to_contain_text("What you ticked is ticked again")
    expect(page.locator("input[value='lifestyle.food.coffee_or_tea']")).not_to_be_checked()
    assert page.locator("input[name=duration]:checked").get_attribute("value") == shortest
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    unlock(page)
    wait_for_values(page)
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert "lifestyle.food.coffee_or_tea" not in Grant.objects.get(request=consent_request).approved_attributes
