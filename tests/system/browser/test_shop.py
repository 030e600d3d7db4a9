"""From a shop's button to the shelf that is sorted by what was approved, in a real browser, with its taps counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from developers.models import App
from pkm.vault.models import KeyWrapper
from tests.factories import (
    AppFactory,
    ConnectionFactory,
    ConsentRequestFactory,
    PersonFactory,
    TokenFactory,
    Vault,
    give_vault,
)
from tests.system.bridge.hosts import bridge_environment
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Themes, axe_findings_in
from tests.system.browser.people import (
    EMAIL,
    PASSPHRASE,
    NewProfile,
    SignIn,
    Taps,
    confirm_code,
    create_account,
    emulate_authenticator,
    enter,
    lock,
    lose_session,
    save,
    unlock,
    wait_for_values,
)
from tests.system.examples.conftest import example

pytestmark = [pytest.mark.browser, pytest.mark.without_services]

KEPT = {("identity", "basic"): {"full_name": "Zoe"}, ("lifestyle", "shopping"): {"fashion_style": "Formal"}}

RIDING = {"scope": "attr.lifestyle.shopping.*", "purpose": "Show you clothes in the style that you like first"}


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), KEPT, passphrase=PASSPHRASE)


@pytest.fixture
def app(site: str) -> App:
    made: App = AppFactory(application__needed_scopes=["attr.lifestyle.shopping.*"])
    return made


@pytest.fixture
def shop(site: str, app: App, tmp_path: Path) -> Iterator[str]:
    environment = {**bridge_environment(tmp_path, site, TokenFactory(app=app).secret), "PORT": "0"}
    with example("shop.py", environment=environment) as running:
        address = running.line().removeprefix("Open ")
        app.origins = [address.rstrip("/")]
        app.save(update_fields=["origins"])
        yield address


def test_a_known_person_shares_with_two_taps(page: Page, sign_in: SignIn, vault: Vault, app: App, shop: str) -> None:
    tap = Taps()
    sign_in(page, vault.user)
    page.goto("/vault/data/identity/")
    unlock(page)
    page.goto(shop)
    page.get_by_role("button", name="Share with this shop").click()
    page.wait_for_url("**/connect/**")
    expect(page.locator("main")).to_contain_text("Only if you started this yourself")
    tap(page.get_by_role("button", name="Connect", exact=True))
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")
    expect(page.locator("#gave-invitation")).to_be_hidden()
    expect(page.locator("main")).to_contain_text(f"{shop}back")
    tap(page.locator("#approve"))

    page.wait_for_url(shop)
    expect(page.locator("p")).to_have_text("Sorted by what you like.")
    expect(page.locator("li").first).to_have_text("Wool suit")
    assert len(tap) == 2, tap


def is_sound(page: Page, themes: Themes) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert axe_findings_in(themes, page) == []


def test_a_new_person_shares_with_six_taps(page: Page, app: App, shop: str, themes: Themes) -> None:
    """The shop's own button among them; a field and the button that sends it are one."""
    tap = Taps()
    page.set_viewport_size(PHONE)
    device = emulate_authenticator(page)
    prompts: list[object] = []
    for event in ("credentialAdded", "credentialAsserted"):
        device.on(f"WebAuthn.{event}", lambda parameters: prompts.append(parameters))
    page.goto(shop)
    tap(page.get_by_role("button", name="Share with this shop"))
    expect(page.locator("main")).to_contain_text("Only if you started this yourself")
    expect(page.locator("main")).to_contain_text(app.name)
    is_sound(page, themes)
    page.get_by_label("E-mail address").fill(EMAIL)
    tap(page.get_by_role("button", name="Create account with a passkey"))
    tap(page.get_by_role("button", name="Create the passkey"))
    page.wait_for_url("**/connect/**")
    tap(page.get_by_role("button", name="Connect", exact=True))
    expect(page.locator("#enter-form")).to_contain_text("Your passkey will be the only way in")
    is_sound(page, themes)
    page.locator("#enter-form").get_by_label("Fashion style").fill("Formal")
    tap(page.get_by_role("button", name="Seal it with my passkey"))
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")
    expect(page.locator("#gave-invitation")).to_be_hidden()
    wait_for_values(page)
    tap(page.locator("#approve"))

    page.wait_for_url(shop)
    expect(page.locator("p")).to_have_text("Sorted by what you like.")
    expect(page.locator("li").first).to_have_text("Wool suit")
    assert len(tap) == 6, tap
    assert len(prompts) == 1  # the sign-up's, which made the vault too
    assert list(KeyWrapper.objects.values_list("kind", flat=True)) == ["passkey"]
    page.goto("/consent/")  # where the second way in is asked for
    expect(page.locator("main")).to_contain_text("You have no recovery code")


def begin_from_shop(page: Page, shop: str) -> None:
    """From the shop's button to the sheet of somebody who has nothing yet."""
    page.goto(shop)
    page.get_by_role("button", name="Share with this shop").click()
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_role("button", name="Create account with a passkey").click()
    page.get_by_role("button", name="Create the passkey").click()
    page.get_by_role("button", name="Connect", exact=True).click()
    page.locator("#enter-form").get_by_label("Fashion style").fill("Formal")


def test_a_passkey_that_opens_nothing_leads_to_the_set_up_and_back(page: Page, shop: str) -> None:
    emulate_authenticator(page, prf=False)
    begin_from_shop(page, shop)
    seal = page.get_by_role("button", name="Seal it with my passkey")
    seal.click()
    expect(page.locator("#enter-form").get_by_role("alert")).to_contain_text("cannot unlock your data")
    assert not KeyWrapper.objects.exists()
    page.get_by_role("link", name="Set up more than one way in first").click()
    page.locator("#new-passphrase").fill(PASSPHRASE)
    page.locator("#passphrase-form button[type=submit]").click()
    confirm_code(page)
    page.locator("#enter-form").get_by_label("Fashion style").fill("Formal")  # back on the sheet, with a vault
    page.get_by_role("button", name="Keep it in my vault").click()
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")


def test_the_sheet_makes_no_second_vault_before_its_person_knows(page: Page, shop: str) -> None:
    emulate_authenticator(page)
    begin_from_shop(page, shop)
    expect(page.locator("[data-remembered]")).to_be_hidden()
    page.evaluate(
        """async () => (await import("/static/js/vault/device.js")).keep(
          `notes:${document.documentElement.dataset.userId}`, { revision: 7, keyId: "vk_before", generation: 1 })"""
    )
    seal = page.get_by_role("button", name="Seal it with my passkey")
    seal.click()
    expect(page.locator("#enter-form").get_by_role("alert")).to_contain_text("This browser remembers a vault of yours")
    assert not KeyWrapper.objects.exists()

    page.reload()
    page.locator("#enter-form").get_by_label("Fashion style").fill("Formal")
    page.locator("[data-remembered] input").check()
    seal.click()
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")


def test_what_the_sign_up_gave_is_gone_once_somebody_locks(page: Page, shop: str) -> None:
    """The passkey is asked for once more; the vault that it makes opens with it alone."""
    device = emulate_authenticator(page)
    prompts: list[object] = []
    begin_from_shop(page, shop)
    device.on("WebAuthn.credentialAsserted", lambda parameters: prompts.append(parameters))
    page.evaluate("async () => (await import('/static/js/vault/vault.js')).lock()")
    page.get_by_role("button", name="Seal it with my passkey").click()
    wait_for_values(page)
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")
    assert len(prompts) == 1
    lock(page)
    page.locator("#show-values").click()
    expect(page.locator("#unlock-recovery")).to_be_hidden()  # there is no code
    expect(page.locator("#unlock-panel button[type=submit]")).to_be_hidden()
    page.locator("#unlock-panel").get_by_role("button", name="Use a passkey").click()
    wait_for_values(page)


def test_who_signs_in_with_a_passkey_shares_with_three_taps(page: Page, site: str, app: App, shop: str) -> None:
    tap = Taps()
    emulate_authenticator(page)
    create_account(page)
    page.get_by_role("button", name="Go on with a passkey").click()
    confirm_code(page)
    page.wait_for_url("**/vault/setup/first/")
    page.goto("/vault/data/lifestyle/")
    enter(page, "shopping", "fashion_style", "Formal")
    save(page, "shopping")
    lose_session(page)
    page.goto(shop)
    page.get_by_role("button", name="Share with this shop").click()
    page.wait_for_url("**/connect/**")
    tap(page.get_by_role("button", name="Use a passkey"))
    tap(page.get_by_role("button", name="Connect", exact=True))
    expect(page.locator("[data-path='lifestyle.shopping.fashion_style'] .v")).to_have_text("Formal")
    tap(page.locator("#approve"))

    page.wait_for_url(shop)
    expect(page.locator("li").first).to_have_text("Wool suit")
    assert len(tap) == 3, tap


def test_the_new_steps_fit_a_narrow_phone_in_german(new_profile: NewProfile, sign_in: SignIn, app: App) -> None:
    vault = give_vault(PersonFactory(), {}, passphrase=PASSPHRASE)
    made = ConnectionFactory(app=app, return_url="https://shop.example/back", asked=RIDING)
    style = ["lifestyle.shopping.fashion_style"]
    consent_request = ConsentRequestFactory(user=vault.user, app=app, scope=RIDING["scope"], optional_attributes=style)
    page = new_profile(locale="de-DE", viewport={"width": 320, "height": 640}).new_page()
    width = "document.documentElement.scrollWidth"
    page.goto(f"/connect/{made.connection_id}/")
    expect(page.locator("main")).to_contain_text("Nur wenn du das selbst begonnen hast.")
    assert page.evaluate(width) == 320
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    expect(page.locator("#enter-form input")).to_be_visible()
    expect(page.locator("#enter-form")).to_contain_text("In meinem Tresor aufbewahren")
    assert page.evaluate(width) == 320
