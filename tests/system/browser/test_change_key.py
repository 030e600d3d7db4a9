"""Changing the key of one's data, in a real browser: to the end, broken off, on another device, given up."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from consent_bridge import sealed
from pkm.history.models import Event
from pkm.segments.models import Blob
from pkm.vault.models import KeyWrapper, VaultKey
from tests.factories import PersonFactory, Vault, give_vault
from tests.system.browser.people import (
    PASSPHRASE,
    NewProfile,
    SignIn,
    confirm_code,
    emulate_authenticator,
    kept,
    unlock,
)

pytestmark = pytest.mark.browser
NEW_PASSPHRASE = "kettle orchid tram velvet 9"
SEGMENTS = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai"},
    ("lifestyle", "fitness"): {"gym_membership": True},
    ("identity", "basic"): {"full_name": "Zoë 🥭"},
    ("contact", "email"): {"email": "zoe@example.org"},
}
VALUES = {".".join(place): values for place, values in SEGMENTS.items()}


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), SEGMENTS, passphrase=PASSPHRASE)


def begin(page: Page, *, choice: str = "new") -> str:
    """From the form to the confirmed code, which is returned."""
    expect(page.locator("#secrets-form button[type=submit]")).to_be_enabled()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#passphrase-choice").select_option(choice)
    if choice == "new":
        page.locator("#new-passphrase").fill(NEW_PASSPHRASE)
    page.locator("#secrets-form button[type=submit]").click()
    return confirm_code(page)


def go_on(page: Page, secret: str, *, unlocked_by: str | None = None) -> None:
    """On the page of a change that is under way."""
    if unlocked_by is not None:
        unlock(page, unlocked_by)
    page.locator("#existing-secret").fill(secret)
    page.locator("#resume-form button[type=submit]").click()


def opened(vault: Vault, kind: str, secret: str) -> dict[str, Any]:
    """What stands, opened as the owner would with this secret alone."""
    from common import encryption

    keys = VaultKey.objects.get(user=vault.user)
    wrapper = KeyWrapper.objects.get(user=vault.user, kind=kind)
    key = sealed.unwrap(encryption.opened(wrapper.jwe), kind, secret)
    assert key.key_id == keys.key_id
    return kept(vault, key)


def done(page: Page) -> None:
    expect(page.locator("#step-done")).to_be_visible()


def test_key_is_changed_and_the_old_secrets_open_nothing(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/account/security/")
    page.get_by_role("link", name="Replace the vault key").first.click()
    expect(page.locator("[data-falls] li")).to_have_text(["Recovery", "Passphrase"])

    code = begin(page)
    done(page)

    assert opened(vault, "passphrase", NEW_PASSPHRASE) == VALUES
    assert opened(vault, "recovery", code) == VALUES
    assert VaultKey.objects.get(user=vault.user).key_id != vault.key.key_id
    page.goto("/vault/data/lifestyle/")
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")  # this browser holds the new key
    page.goto("/account/security/key/")
    expect(page.locator("#secrets-form")).to_be_visible()


def test_broken_off_halfway_it_is_finished_on_another_device(
    page: Page, sign_in: SignIn, vault: Vault, new_profile: NewProfile
) -> None:
    sign_in(page, vault.user, at="/account/security/key/")
    sent = []

    def stall(route: Route) -> None:
        if route.request.method == "PUT":
            sent.append(route.request.url)
        if route.request.method != "PUT" or len(sent) <= 2:
            route.continue_()  # the others are never answered, as when the page is closed meanwhile

    page.route("**/vault/rotation/segments/**", stall)
    begin(page)
    expect(page.locator("#step-work [data-count]")).to_have_text("2 of 4")
    page.goto("about:blank")  # ends what is held; closing the page might let it go instead
    page.close()
    assert Blob.objects.exclude(resealed=None).count() == 2
    assert VaultKey.objects.get(user=vault.user).vault_status == "rotating"
    vault.write("lifestyle", "food", {"favorite_cuisine": "Lao"}, base=1)  # from somewhere else, under the old key

    other = new_profile().new_page()
    sign_in(other, vault.user, at="/account/security/")
    expect(other.locator("#key")).to_contain_text("A change of the key is under way")
    other.locator("#key a").click()
    go_on(other, NEW_PASSPHRASE, unlocked_by=PASSPHRASE)
    done(other)

    assert opened(vault, "passphrase", NEW_PASSPHRASE) == VALUES | {"lifestyle.food": {"favorite_cuisine": "Lao"}}
    kinds = list(Event.objects.filter(user=vault.user).order_by("-sequence").values_list("kind", flat=True)[:4])
    assert kinds == ["wrapper_added", "wrapper_added", "wrapper_removed", "wrapper_removed"]


def test_same_passphrase_and_a_passkey_are_kept(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user)
    emulate_authenticator(page)
    page.goto("/account/security/")
    page.locator("[data-add=passkey]").click()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#add-submit").click()
    expect(page.locator("#ways .t")).to_have_count(3)
    page.goto("/account/security/key/")
    begin(page, choice="same")
    done(page)
    kinds = KeyWrapper.objects.filter(user=vault.user).order_by("kind").values_list("kind", flat=True)
    assert list(kinds) == ["passkey", "passphrase", "recovery"]
    page.locator("#vault-lock").click()
    page.goto("/vault/")
    page.locator("[data-unlock-passkey]").click()
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "unlocked")
    assert opened(vault, "passphrase", PASSPHRASE) == VALUES


def test_stopped_and_given_up_nothing_has_changed(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/account/security/key/")
    page.route("**/vault/rotation/finish", lambda route: None)  # never answered
    begin(page)
    expect(page.locator("#step-work [data-count]")).to_have_text("4 of 4")
    page.reload()
    page.locator("#give-up").click()
    page.wait_for_url("**/account/security/")
    assert VaultKey.objects.get(user=vault.user).vault_status == "active"
    assert opened(vault, "passphrase", PASSPHRASE) == VALUES


def test_pause_waits_and_goes_on(page: Page, sign_in: SignIn, vault: Vault) -> None:
    sign_in(page, vault.user, at="/account/security/key/")
    page.route("**/vault/rotation/segments/contact/email", lambda route: None)  # not answered yet
    begin(page, choice="same")
    expect(page.locator("#step-work [data-count]")).to_have_text("0 of 4")
    page.locator("#pause").click()
    page.unroute("**/vault/rotation/segments/contact/email")  # what waited goes on its way
    expect(page.locator("#step-work [data-error]")).to_contain_text("Stopped.")
    assert VaultKey.objects.get(user=vault.user).vault_status == "rotating"
    page.locator("#again").click()
    go_on(page, PASSPHRASE)
    done(page)
    assert opened(vault, "passphrase", PASSPHRASE) == VALUES


def test_copy_that_does_not_hold_the_same_is_sealed_again(page: Page, sign_in: SignIn, vault: Vault) -> None:
    """Somebody with the session alone may have put something else there: what was not read back does not count."""
    sign_in(page, vault.user, at="/account/security/key/")
    page.route("**/vault/rotation/finish", lambda route: None)  # never answered
    begin(page, choice="same")
    expect(page.locator("#step-work [data-count]")).to_have_text("4 of 4")
    page.goto("/account/security/")
    page.unroute("**/vault/rotation/finish")
    blob = Blob.objects.get(user=vault.user, segment_id="food")
    other = Blob.objects.get(user=vault.user, segment_id="fitness")
    Blob.objects.filter(pk=blob.pk).update(resealed=other.resealed, resealed_sha256=other.resealed_sha256)
    page.goto("/account/security/key/")
    go_on(page, PASSPHRASE)
    done(page)
    assert opened(vault, "passphrase", PASSPHRASE) == VALUES


def test_tab_of_another_device_learns_of_the_new_key(
    page: Page, sign_in: SignIn, vault: Vault, new_profile: NewProfile
) -> None:
    other = new_profile().new_page()
    sign_in(other, vault.user, at="/vault/data/lifestyle/")
    unlock(other)
    expect(other.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    sign_in(page, vault.user, at="/account/security/key/")
    begin(page)
    done(page)
    other.reload()
    expect(other.locator("#toasts")).to_contain_text("was changed on another device")
    expect(other.locator("#vault-chip")).to_have_attribute("data-state", "locked")
    unlock(other, NEW_PASSPHRASE)
    expect(other.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
