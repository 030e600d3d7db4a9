"""A real Chromium at the real server, for tests that act as people do."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from accounts.models import User
from consent.requests.models import ConsentRequest
from tests.callers import signed_in
from tests.factories import ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.factories.accounts import PASSWORD
from tests.patience import MOST_SECONDS
from tests.served_site import running_site
from tests.staff import at_the_admin, give_second_factor
from tests.system.browser.page_faults import THEMES, Complaints, Themes
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, enter_code
from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

# Playwright keeps an event loop in this thread, which Django would take for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

expect.set_options(timeout=1000 * MOST_SECONDS)
# What a page tells in passing it tells for six seconds, in which a busy machine may not come to look.
TOASTS_STAY = """
const remove = Element.prototype.remove;
Element.prototype.remove = function () { if (!this.matches(".toast")) remove.call(this); };
"""
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
IN_LONG = pytest.mark.long("another width", only=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser a module: Playwright keeps an event loop in this thread, which the tests of asyncio must not meet."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium found: set CHROMIUM to its path to run the browser tests")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def running_server(django_db_setup: None) -> Iterator[str]:
    with running_site() as address:
        yield address


@pytest.fixture
def site(running_server: str, transactional_db: None, settings: Any) -> str:
    """The address of the real server, whose database is this test's: what factories make here, it has."""
    settings.BASE_URL = settings.ISSUER = running_server
    return running_server


@pytest.fixture
def themes(long_form: bool) -> Themes:
    """The themes in which pages are looked at: all of them in the long form."""
    return THEMES if long_form else THEMES[:1]


@pytest.fixture
def complaints() -> Complaints:
    """What the browser complained about; a test fails on any. `with complaints.expecting(409): …` for what is meant."""
    return Complaints()


@pytest.fixture
def new_profile(chromium: Browser, site: str, complaints: Complaints) -> Iterator[NewProfile]:
    """Opens fresh browser profiles, with addresses relative to the site: `new_profile(viewport=PHONE)`."""
    contexts: list[BrowserContext] = []

    def open_profile(**options: Any) -> BrowserContext:
        context = chromium.new_context(
            **{
                "base_url": site,
                "viewport": DESKTOP,
                "locale": "en-GB",
                "timezone_id": "Europe/Berlin",
                "reduced_motion": "reduce",  # half of one colour and half of the next has the contrast of neither
                "service_workers": "block",  # whose requests no route of a test sees
                **options,
            }
        )
        context.set_default_timeout(1000 * MOST_SECONDS)
        context.add_init_script(TOASTS_STAY)
        complaints.watch(context)
        contexts.append(context)
        return context

    yield open_profile
    found = list(complaints.lines)  # closing breaks off what is under way, which is nobody's fault
    for context in contexts:
        context.close()
    assert found == []


@pytest.fixture
def profile(new_profile: NewProfile) -> BrowserContext:
    """One profile: the tabs of one person."""
    return new_profile()


@pytest.fixture
def page(profile: BrowserContext) -> Page:
    """One tab, nobody signed in."""
    return profile.new_page()


@pytest.fixture
def sign_in(site: str, sign_in_by_form: SignIn) -> SignIn:
    """Signs a person of the factories in; staff with the code of an authenticator app, made here.

    The form has tests of its own: here it costs two pages, so a browser is given the session that the form would make.
    One of another language goes through the form, where that language becomes the person's. Then comes the page `at`.
    """

    def enter(page: Page, user: User, at: str = "/consent/") -> None:
        if not page.evaluate("navigator.language").startswith("en"):
            sign_in_by_form(page, user)
            page.goto(at)
            return
        client = at_the_admin(user) if user.is_staff else signed_in(user).client
        name = settings.SESSION_COOKIE_NAME
        kept = {"httpOnly": True, "sameSite": "Lax", "url": site}
        page.context.add_cookies([{"name": name, "value": client.cookies[name].value, **kept}])  # type: ignore[typeddict-item]
        page.goto(at)

    return enter


@pytest.fixture
def sign_in_by_form() -> SignIn:
    """The same through the form, for what the page of the form leaves in the browser."""

    def fill_in(page: Page, user: User) -> None:
        secret = give_second_factor(user) if user.is_staff else ""
        page.goto("/accounts/login/")
        page.locator("input[name=login]").fill(user.email)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("input[name=password]").press("Enter")
        page.wait_for_url(lambda url: "/accounts/login/" not in url)
        if secret:
            enter_code(page, secret)

    return fill_in


@pytest.fixture
def vault(site: str) -> Vault:
    """Somebody whose vault holds some food."""
    return give_vault(PersonFactory(), passphrase=PASSPHRASE)


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    """What an app asks them for."""
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, app_name="Lunch Finder")
    return made


@pytest.fixture
def denied(page: Page, sign_in: SignIn, consent_request: ConsentRequest) -> Page:
    """They just refused, and are on the page that says so."""
    sign_in(page, consent_request.user, at=f"/consent/requests/{consent_request.request_id}/")
    page.get_by_role("button", name="Deny").click()
    expect(page.locator(".outcome h1")).to_have_text("You denied this")
    return page
