"""What the old system left, in a real browser: brought in, broken off, in conflict, left over."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from pkm.legacy.models import LegacyBlob, MigrationState
from tests.factories import LegacyBlobFactory, MigrationStateFactory, Vault
from tests.factories.legacy import OLD_PASSPHRASE
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import SignIn, kept, unlock

pytestmark = pytest.mark.browser
DOCUMENTS: dict[str, Any] = {
    "lifestyle": {
        "favorite_cuisine": "Georgian",  # Thai is what they have now
        "gym_membership": True,
        "food": {"coffee_or_tea": "Tea", "favourite_dessert": "Mango 🥭"},
    },
    "location": {"city": "Tbilisi", "old_landmark": "Bridge of Peace"},
    "identity": {"basic": {"full_name": "Zoe", "age": None}},
}


def leave(vault: Vault, documents: dict[str, Any]) -> None:
    for domain, document in documents.items():
        LegacyBlobFactory(user=vault.user, domain=domain, document=document)
    MigrationStateFactory(user=vault.user)


def at_my_data(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/vault/")
    unlock(page)
    expect(page.locator("#old-passphrase")).to_be_visible()


def bring_in(page: Page, passphrase: str = OLD_PASSPHRASE) -> None:
    page.locator("#old-passphrase").fill(passphrase)
    page.locator("#old-passphrase").press("Enter")


AFTERWARDS = {
    "lifestyle.food": {
        "diet_preference": "Vegetarian", "favorite_cuisine": "Thai", "coffee_or_tea": "Tea",
        "favourite_dessert": "Mango 🥭",
    },
    "lifestyle.fitness": {"gym_membership": True},
    "location.home": {"city": "Tbilisi", "old_landmark": "Bridge of Peace"},
    "identity.basic": {"full_name": "Zoe"},
}  # fmt: skip


def test_old_data_is_brought_in_without_overwriting(page: Page, sign_in: SignIn, vault: Vault) -> None:
    leave(vault, DOCUMENTS)
    at_my_data(page, sign_in, vault)
    bring_in(page, "not the one of the old system")
    expect(page.locator("#old-data [data-problem]")).to_contain_text("does not open your older data")

    bring_in(page)

    expect(page.locator("#old-data [data-told]")).to_contain_text("3 domains were brought in.")
    expect(page.locator("#old-data [data-kept-list]")).to_contain_text("Thai (before: Georgian)")
    expect(page.locator("#old-data [data-aside]")).to_be_hidden()
    assert kept(vault) == AFTERWARDS
    assert not LegacyBlob.objects.exists()
    state = MigrationState.objects.get(user=vault.user)
    assert (state.status, state.counts) == ("completed", {"written": 5, "kept": 1, "aside": 0, "moved": 3})
    page.reload()
    expect(page.locator("#old-data")).to_have_count(0)


def test_what_has_no_place_is_shown_and_stays_until_it_is_removed(page: Page, sign_in: SignIn, vault: Vault) -> None:
    leave(vault, {"lifestyle": {"gym_membership": True, "shoe_size": 41}, "pets": {"dog": "Bo"}})
    at_my_data(page, sign_in, vault)
    bring_in(page)

    left = page.locator("#old-data [data-aside-list]")
    expect(left).to_contain_text("shoe_size 41")
    expect(left).to_contain_text("Pets: dog Bo")
    assert kept(vault)["lifestyle.fitness"] == {"gym_membership": True}
    assert LegacyBlob.objects.count() == 2
    with page.expect_download() as download:
        page.locator("#old-data [data-save]").click()
    assert '"shoe_size": 41' in download.value.path().read_text()

    page.locator("#old-data [data-remove]").click()

    expect(page.locator("#old-data [data-aside]")).to_be_hidden()
    assert not LegacyBlob.objects.exists()
    assert MigrationState.objects.get(user=vault.user).status == "completed"


@pytest.mark.parametrize(
    "broken_at", ["**/vault/segments/location/home", "**/vault/legacy/*/finish", "**/vault/legacy/lifestyle/finish"]
)
def test_broken_off_anywhere_goes_on_after_a_reload(
    page: Page, sign_in: SignIn, vault: Vault, complaints: Complaints, broken_at: str
) -> None:
    leave(vault, DOCUMENTS)
    at_my_data(page, sign_in, vault)
    page.route(broken_at, lambda route: None)  # never answered, as when the page is closed meanwhile
    with page.expect_request(broken_at):
        bring_in(page)
    assert MigrationState.objects.get(user=vault.user).status == "running"
    page.reload()
    page.unroute(broken_at)  # not before: the browser would let go of what it holds, and the rest would follow
    expect(page.locator("#old-data [data-resume]")).to_be_visible()

    bring_in(page)

    expect(page.locator("#old-data [data-told]")).to_contain_text("brought in")
    assert kept(vault) == AFTERWARDS
    assert not LegacyBlob.objects.exists()
    assert MigrationState.objects.get(user=vault.user).counts["kept"] == 1  # though lifestyle was compared twice


def test_stopped_by_the_person_it_waits_and_nothing_is_lost(page: Page, sign_in: SignIn, vault: Vault) -> None:
    leave(vault, DOCUMENTS)
    at_my_data(page, sign_in, vault)
    routes: list[Route] = []
    page.route("**/vault/segments/identity/basic", lambda route: routes.append(route))
    with page.expect_request("**/vault/segments/identity/basic"):
        bring_in(page)
    page.get_by_role("button", name="Stop for now").click()
    routes[0].continue_()

    expect(page.locator("#old-data [data-told]")).to_contain_text("Stopped.")
    assert MigrationState.objects.get(user=vault.user).status == "waiting_for_unlock"
    assert LegacyBlob.objects.count() == 3
    page.unroute("**/vault/segments/identity/basic")
    page.get_by_role("link", name="Show my data as it is now").click()
    bring_in(page)
    expect(page.locator("#old-data [data-told]")).to_contain_text("3 domains were brought in.")
    assert kept(vault) == AFTERWARDS
