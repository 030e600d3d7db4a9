"""From a shop's button to the shelf that is sorted by what was approved, in a real browser, with its taps counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from developers.models import App
from tests.factories import AppFactory, PersonFactory, TokenFactory, Vault, give_vault
from tests.system.bridge.hosts import bridge_environment
from tests.system.browser.people import PASSPHRASE, SignIn, unlock
from tests.system.examples.conftest import example

pytestmark = [pytest.mark.browser, pytest.mark.without_services]

KEPT = {("identity", "basic"): {"full_name": "Zoe"}, ("lifestyle", "shopping"): {"fashion_style": "Formal"}}


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
    taps: list[str] = []

    def tap(what: Locator) -> None:
        taps.append(what.inner_text().strip())
        what.click()

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
    assert len(taps) == 2, taps
