"""On a slow network nothing that can be pressed moves under a finger, and nothing that is pressed is sent twice."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.factories import GrantFactory, PersonFactory, Vault
from tests.patience import eventually
from tests.system.browser.people import SignIn, unlock
from tests.system.browser.test_trip import make_vault, sign_up

pytestmark = pytest.mark.browser
MODULES = "**/js/session.*"  # of every page: until it is there, no module runs
ALERTS = "**/js/alerts.*"
VALUES = "**/vault/segments?*"


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

    def __len__(self) -> int:
        return len(self._waiting or [])

    def let_go(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for route in waiting:
            route.continue_()


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"]


def await_end_of(page: Page) -> None:
    """Until all of its text is read, whatever it still waits for."""
    eventually(lambda: page.evaluate("document.readyState") != "loading", "the end of the page")


def test_times_and_buttons_do_not_wait_for_modules(page: Page, sign_in: SignIn) -> None:
    grant = GrantFactory()
    sign_in(page, grant.user)
    modules = Held(page, MODULES)
    page.route("**/pause/", lambda route: route.fulfill(status=204))  # on which a browser stays where it is
    page.goto(f"/consent/apps/{grant.app.app_id}/", wait_until="commit")

    expect(page.locator("dl.facts time").first).to_contain_text("in ")
    await_end_of(page)
    pause = page.locator(".app-do button").first
    pause.click()
    expect(pause).to_be_disabled()
    modules.let_go()


def test_times_are_written_while_the_page_still_comes(page: Page, sign_in: SignIn) -> None:
    grant = GrantFactory()
    sign_in(page, grant.user)
    rest = Held(page, "**/static/the-rest-of-the-page.js")

    def half(route: Route) -> None:
        answer = route.fetch()
        script = '</dl><script src="/static/the-rest-of-the-page.js"></script>'  # at which the browser stops to read
        route.fulfill(response=answer, body=answer.text().replace("</dl>", script, 1))

    page.route(f"**/consent/apps/{grant.app.app_id}/", half)
    page.goto(f"/consent/apps/{grant.app.app_id}/", wait_until="commit")
    expect(page.locator("dl.facts time").first).to_contain_text("in ")
    assert page.evaluate("document.readyState") == "loading"
    assert len(rest) == 1


def test_a_refused_form_takes_no_focus_from_who_types_on(page: Page, site: str) -> None:
    page.goto("/accounts/signup/")
    email, password = page.locator("input[name=email]"), page.locator("input[name=password1]")
    email.fill("ann@example.org")
    password.fill("short")
    modules = Held(page, MODULES)
    password.press("Enter", no_wait_after=True)
    expect(password).to_have_attribute("aria-invalid", "true")
    await_end_of(page)
    email.press("End")
    modules.let_go()
    page.wait_for_load_state("load")
    expect(email).to_be_focused()


def test_an_unlocked_vault_shows_no_lock_while_its_values_come(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    modules = Held(page, MODULES)
    values = Held(page, VALUES)
    page.reload(wait_until="commit")
    hide = page.locator("#food form[data-discovery] button")

    expect(page.locator("#title-food")).to_be_visible()
    expect(page.locator("#unlock-panel")).to_be_hidden()
    expect(hide).to_be_hidden()
    modules.let_go()
    expect(page.locator("#food form[data-fields-form]")).to_be_visible()
    expect(hide).to_be_hidden()
    values.let_go()
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    expect(hide).to_be_visible()

    page.locator("#vault-lock").click()
    page.reload()
    expect(page.locator("#unlock-panel")).to_be_visible()


def test_the_first_form_can_be_sent_once_its_fields_are_there(page: Page) -> None:
    sign_up(page)
    values = Held(page, VALUES)
    make_vault(page)
    expect(page.locator("#first-form")).to_be_attached()
    expect(page.get_by_role("button", name="Save")).to_be_hidden()
    values.let_go()
    expect(page.get_by_role("button", name="Save")).to_be_visible()
    assert top(page, "#first-form .form-actions") > top(page, "#first-lifestyle-food-favorite_cuisine")


def test_what_this_browser_can_show_leaves_the_settings_where_they_are(page: Page, sign_in: SignIn) -> None:
    sign_in(page, PersonFactory())
    script = Held(page, ALERTS)
    page.goto("/consent/alerts/", wait_until="commit")
    expect(page.locator("#id_requests")).to_be_visible()
    begin, before = page.get_by_role("button", name="Show messages here"), top(page, "#id_requests")
    expect(begin).to_be_hidden()
    script.let_go()
    expect(begin).to_be_visible()
    assert top(page, "#id_requests") == before


def test_letters_that_come_late_move_no_button(page: Page, sign_in: SignIn) -> None:
    """On a system that has a font as wide as ours, as phones and desktops do."""
    letters = Held(page, "**/figtree/*")
    sign_in(page, PersonFactory(), at="about:blank")
    page.goto("/connect/", wait_until="domcontentloaded")
    load = "document.fonts.load('16px \"Figtree Fallback\"').then(({ length }) => length, () => 0)"
    if not page.evaluate(load):
        pytest.skip("no Arial, Liberation Sans, Helvetica or Roboto here: install fonts-liberation")
    before = top(page, "main button[type=submit]")
    letters.let_go()
    page.evaluate("document.fonts.ready.then(() => 0)")

    assert page.evaluate("document.fonts.check('16px \"Figtree Variable\"')")
    assert abs(top(page, "main button[type=submit]") - before) < 2
