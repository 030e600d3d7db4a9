"""The try-it console in a browser: by keyboard, on a phone, without a script of its own."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from developers.models import App
from tests.factories import MemberFactory, SandboxPersonFactory, TestAppFactory, give_vault
from tests.system.browser.conftest import DESKTOP, PHONE
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser


@pytest.fixture
def app(site: str) -> App:
    made: App = TestAppFactory(name="Lunch Finder")
    give_vault(SandboxPersonFactory(app=made).user)
    return made


@pytest.fixture
def developer(app: App) -> User:
    member: User = MemberFactory(app=app).user
    return member


def too_wide(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_an_operation_is_called_by_keyboard_alone(page: Page, sign_in: SignIn, app: App, developer: User) -> None:
    sign_in(page, developer, at=f"/developers/apps/{app.app_id}/")
    page.get_by_role("link", name="Try it").click()

    page.get_by_label("Operation").focus()
    page.keyboard.type("Ask one person")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Ask one person for one scope")).to_be_visible()
    page.get_by_label("Body, as JSON").focus()
    while page.evaluate("document.activeElement.type") != "submit":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator("#answer-status")).to_have_text("201 Created")
    expect(page.locator("#answer-body")).to_contain_text('"status": "pending"')
    expect(page.locator("#answer")).to_be_in_viewport()
    assert page.evaluate("document.activeElement.id || document.activeElement.tagName") in ("answer", "BODY")
    assert page.evaluate("performance.getEntriesByType('resource').filter(e => e.name.includes('/api/v1')).length") == 0


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP, {"width": 320, "height": 640}], ids=["phone", "desk", "narrow"])
def test_answers_and_refusals_are_sound(
    new_profile: NewProfile, sign_in: SignIn, app: App, developer: User, viewport: dict[str, int]
) -> None:
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, developer)
    findings = []
    for operation in ("requestConsent", "getUserScopes", "listConsentRequests"):
        page.goto(f"/developers/apps/{app.app_id}/try/?operation={operation}")
        findings += [*axe_findings_in(THEMES, page), *[f"{operation} too wide"] * (too_wide(page) > 0)]
        page.get_by_role("button", name="Call it").click()
        expect(page.locator("#answer")).to_be_visible()
        page.locator("#answer summary").click()
        findings += [*axe_findings_in(THEMES, page), *[f"{operation}, answered, too wide"] * (too_wide(page) > 0)]

    assert findings == []
