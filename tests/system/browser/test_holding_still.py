"""On a slow network nothing that can be pressed moves under a finger, and nothing that is pressed is sent twice."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.factories import GrantFactory, Vault
from tests.system.browser.people import SignIn

pytestmark = pytest.mark.browser
MODULES = "**/js/session.*"  # of every page: until it is there, no module runs


class Held:
    """Nothing answers there until it is let go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._waiting: list[Route] | None = []
        page.route(pattern, self._meet)

    def _meet(self, route: Route) -> None:
        if self._waiting is None:
            route.continue_()
        else:
            self._waiting.append(route)

    def let_go(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for route in waiting:
            route.continue_()


def test_times_and_buttons_do_not_wait_for_modules(page: Page, sign_in: SignIn) -> None:
    grant = GrantFactory()
    sign_in(page, grant.user)
    modules = Held(page, MODULES)
    page.route("**/pause/", lambda route: route.fulfill(status=204))  # on which a browser stays where it is
    page.goto(f"/consent/apps/{grant.app.app_id}/", wait_until="commit")

    expect(page.locator("dl.facts time").first).to_contain_text("in ")
    pause = page.locator(".app-do button").first
    pause.click()
    expect(pause).to_be_disabled()
    modules.let_go()


def test_a_refused_form_takes_no_focus_from_who_types_on(page: Page, vault: Vault) -> None:
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(vault.user.email)
    page.locator("input[name=password]").fill("not this")
    modules = Held(page, MODULES)
    page.locator("input[name=password]").press("Enter", no_wait_after=True)
    expect(page.locator("main [role=alert]").first).to_be_visible()
    page.locator("input[name=password]").press_sequentially("gravel ")
    modules.let_go()
    page.wait_for_load_state("load")
    expect(page.locator("input[name=password]")).to_be_focused()
