"""The ways into a vault, in a real browser: changed, forgotten, proved by a passkey, removed, tried once a year."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from pkm.vault.models import KeyWrapper
from tests.factories import Vault
from tests.patience import eventually
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Complaints, Themes, faults_at, too_wide
from tests.system.browser.people import (
    PASSPHRASE,
    NewProfile,
    SignIn,
    confirm_code,
    emulate_authenticator,
    lock,
    unlock,
)

pytestmark = pytest.mark.browser

NEW = "cobalt ferry thimble 9 dune"
WRONG = "That does not open your data."


@pytest.fixture
def security(page: Page, sign_in: SignIn, vault: Vault) -> Page:
    """The security page, freshly signed in."""
    emulate_authenticator(page)
    sign_in(page, vault.user, at="/account/security/")
    return page


def choose(page: Page, passphrase: str = NEW) -> None:
    page.locator("#new-passphrase").fill(passphrase)


def send(page: Page) -> None:
    page.locator("#add-submit").click()


def refuses(page: Page, passphrase: str) -> None:
    """The page "My data" does not open with it."""
    page.goto("/vault/")
    expect(page.locator("#unlock-panel button[type=submit]")).to_be_enabled()
    page.locator("#unlock-passphrase").fill(passphrase)
    page.locator("#unlock-passphrase").press("Enter")
    expect(page.locator("[data-unlock-error]")).to_contain_text(WRONG)


def live(vault: Vault) -> list[tuple[str, str]]:
    rows = KeyWrapper.objects.filter(user=vault.user, removed_at=None).order_by("pk")
    return [(row.kind, row.label) for row in rows]


def add_passkey(page: Page, label: str = "My phone") -> None:
    page.get_by_role("button", name="Add a passkey").click()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#way-label").fill(label)
    send(page)
    expect(page.locator("#ways .t", has_text=label)).to_be_visible()


def test_changed_passphrase_replaces_the_old_one(security: Page, vault: Vault) -> None:
    security.get_by_role("button", name="Change Passphrase").click()
    security.locator("#existing-secret").fill(PASSPHRASE)
    choose(security)
    send(security)

    expect(security.locator("#way-changed")).to_contain_text("the old one no longer does")
    security.locator("#way-changed button").click()
    expect(security.locator("#ways .t", has_text="Passphrase")).to_have_count(2)  # one of them can be put back
    assert live(vault) == [("recovery", "Recovery"), ("passphrase", "Passphrase")]
    refuses(security, PASSPHRASE)
    unlock(security, NEW)

    security.goto("/account/security/")
    security.get_by_role("button", name="Put back Passphrase").click()
    expect(security.locator(".messages")).to_contain_text("Put back")


def test_change_with_a_wrong_secret_changes_nothing(security: Page, vault: Vault) -> None:
    before = list(KeyWrapper.objects.values())
    security.get_by_role("button", name="Change Passphrase").click()
    security.locator("#existing-secret").fill("not the passphrase at all")
    choose(security)
    send(security)

    expect(security.locator("#add-form [data-error]")).to_contain_text(WRONG)
    assert list(KeyWrapper.objects.values()) == before


def test_of_two_passphrases_the_chosen_one_is_changed(security: Page, vault: Vault) -> None:
    security.get_by_role("button", name="Add a passphrase").click()
    security.locator("#existing-secret").fill(PASSPHRASE)
    choose(security, "second lemon harbour 4 violin")
    security.locator("#way-label").fill("For the tablet")
    with security.expect_navigation():  # pressed before the page's script came anew, the next button would do nothing
        send(security)
    expect(security.locator("#ways")).to_contain_text("For the tablet")

    security.get_by_role("button", name="Change For the tablet").click()
    security.locator("#existing-secret").fill(PASSPHRASE)
    choose(security)
    send(security)
    expect(security.locator("#way-changed")).to_be_visible()

    refuses(security, "second lemon harbour 4 violin")
    unlock(security, PASSPHRASE)
    lock(security)
    unlock(security, NEW)


def test_new_recovery_code_replaces_once_it_was_confirmed(security: Page, vault: Vault) -> None:
    change = security.get_by_role("button", name="Change Recovery")
    change.click()
    security.locator("#existing-secret").fill(PASSPHRASE)
    send(security)
    expect(security.locator("#recovery-code code")).to_have_count(8)
    security.keyboard.press("Escape")
    assert KeyWrapper.objects.filter(user=vault.user).count() == 2  # closed before it was confirmed: nothing was sent

    change.click()
    security.locator("#existing-secret").fill(PASSPHRASE)
    send(security)
    code = confirm_code(security)
    expect(security.locator("#way-changed")).to_contain_text("Destroy the old paper")
    with security.expect_navigation():  # the page comes anew, and what was typed before that would be gone
        security.locator("#way-changed button").click()

    check_code(security, vault.recovery_code)
    expect(security.locator("#check-form [data-error]")).to_contain_text(WRONG)
    check_code(security, code)
    expect(security.locator("#check-good")).to_contain_text("This code opens your data")


def check_code(page: Page, code: str) -> None:
    expect(page.locator("#check-form button")).to_be_enabled()
    page.locator("#check-code").fill(code)
    page.locator("#check-form button").click()


def test_forgotten_passphrase_and_used_code_are_both_replaced(security: Page, vault: Vault) -> None:
    security.goto("/vault/data/lifestyle/")
    security.locator("[data-unlock-other]").click()
    security.get_by_role("link", name="Choose a new passphrase").click()
    security.locator("#existing-secret").fill(vault.recovery_code.lower())
    choose(security)
    security.locator("#recover-form button[type=submit]").click()
    code = confirm_code(security)
    security.wait_for_url("**/vault/data/lifestyle/")

    expect(security.locator("#f-food-favorite_cuisine")).to_have_value("Thai")
    assert live(vault) == [("passphrase", "Passphrase"), ("recovery", "Recovery code")]
    lock(security)
    refuses(security, PASSPHRASE)
    unlock(security, NEW)
    security.goto("/account/security/")
    check_code(security, vault.recovery_code)
    expect(security.locator("#check-form [data-error]")).to_contain_text(WRONG)
    check_code(security, code)
    expect(security.locator("#check-good")).to_be_visible()


def test_the_reminder_lasts_on_every_device_until_there_are_new_secrets(
    security: Page, vault: Vault, new_profile: NewProfile, sign_in: SignIn
) -> None:
    code = KeyWrapper.objects.filter(user=vault.user, kind="recovery")
    security.goto("/vault/")
    expect(security.locator("#recovered")).to_be_hidden()
    security.locator("[data-unlock-other]").click()
    security.locator("#unlock-recovery").fill(vault.recovery_code)
    security.locator("#unlock-recovery").press("Enter")
    expect(security.locator("#recovered")).to_be_focused()
    eventually(code.exclude(unlocked_at=None).exists, "the code's use")

    security.reload()
    expect(security.locator("#recovered")).to_be_visible()
    elsewhere = new_profile().new_page()
    sign_in(elsewhere, vault.user, at="/vault/data/lifestyle/")
    unlock(elsewhere)
    elsewhere.locator("#recovered a").click()
    expect(elsewhere).to_have_url("/account/security/recover/?next=%2Fvault%2Fdata%2Flifestyle%2F")
    elsewhere.locator("#existing-secret").fill(vault.recovery_code)
    choose(elsewhere)
    elsewhere.locator("#recover-form button[type=submit]").click()
    confirm_code(elsewhere)
    elsewhere.wait_for_url("**/vault/data/lifestyle/")

    expect(elsewhere.locator("#recovered")).to_be_hidden()
    security.reload()
    expect(security.locator("#recovered")).to_be_hidden()


def test_trying_the_code_reminds_of_nothing(security: Page, vault: Vault) -> None:
    check_code(security, vault.recovery_code)
    expect(security.locator("#check-good")).to_be_visible()
    used = KeyWrapper.objects.filter(user=vault.user, kind="recovery").exclude(last_used_at=None)
    eventually(used.exists, "the wrapper's use")

    security.goto("/vault/")
    expect(security.locator("#unlock-panel button[type=submit]")).to_be_enabled()
    expect(security.locator("#recovered")).to_be_hidden()


def test_a_passkey_stands_in_for_a_forgotten_passphrase(security: Page, vault: Vault) -> None:
    add_passkey(security)
    security.goto("/account/security/recover/")
    security.locator("#existing-kind").select_option("passkey")
    expect(security.locator("#existing-secret")).to_be_hidden()
    choose(security)
    security.locator("#recover-form button[type=submit]").click()
    security.wait_for_url("**/vault/")

    assert live(vault) == [("recovery", "Recovery"), ("passkey", "My phone"), ("passphrase", "Passphrase")]
    lock(security)
    refuses(security, PASSPHRASE)
    unlock(security, NEW)


def test_who_has_a_passkey_only_adds_a_way_in_with_it(security: Page, vault: Vault) -> None:
    add_passkey(security)
    KeyWrapper.objects.exclude(kind="passkey").filter(user=vault.user).delete()
    security.reload()
    expect(security.locator("#check")).to_have_count(0)

    security.get_by_role("button", name="Add a passphrase").click()
    expect(security.locator("#existing-secret")).to_be_hidden()
    choose(security)
    send(security)
    expect(security.locator("#ways .t", has_text="Passphrase")).to_be_visible()
    security.goto("/vault/")
    unlock(security, NEW)

    lock(security)
    security.goto("/vault/data/lifestyle/")
    security.get_by_role("button", name="Use a passkey").click()
    expect(security.locator("#f-food-favorite_cuisine")).to_have_value("Thai")


def test_leaving_only_paper_takes_a_second_look_even_without_a_script(
    new_profile: NewProfile, vault: Vault, security: Page, complaints: Complaints
) -> None:
    without = new_profile(java_script_enabled=False)
    without.add_cookies(security.context.cookies())  # type: ignore[arg-type]  # the same shape, read instead of written
    page = without.new_page()
    page.goto("/account/security/")
    page.get_by_role("link", name="Remove Passphrase").click()
    expect(page.locator("main")).to_contain_text("What then still unlocks your data")
    expect(page.locator("main .t")).to_have_text(["Recovery"])

    with complaints.expecting(400):
        page.get_by_role("button", name="Remove it").click()
        expect(page.locator("main")).to_contain_text("Tick this first")
    page.locator("#only-recovery").check()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator(".messages")).to_contain_text("put it back for 7 days")


def test_recovery_code_is_tried_here_and_not_sent(security: Page, vault: Vault) -> None:
    long_ago = timezone.now() - timedelta(days=400)
    KeyWrapper.objects.filter(user=vault.user).update(created_at=long_ago)
    security.goto("/vault/")
    security.get_by_role("link", name="See whether it still works").click()
    expect(security.locator("#check-due")).to_be_visible()
    sent: list[str] = []
    security.on("request", lambda request: sent.append(f"{request.url} {request.post_data}"))

    check_code(security, vault.recovery_code)
    expect(security.locator("#check-good")).to_be_visible()

    assert not [line for line in sent if vault.recovery_code.replace("-", "") in line.replace("-", "").upper()]
    security.goto("/vault/")
    expect(security.locator("main")).not_to_contain_text("not tried for a year")


@pytest.mark.long("in both themes; in short in the light one")
def test_pages_of_the_lock_are_sound(security: Page, vault: Vault, themes: Themes) -> None:
    KeyWrapper.objects.filter(user=vault.user).update(created_at=timezone.now() - timedelta(days=400))
    passphrase = KeyWrapper.objects.get(user=vault.user, kind="passphrase").wrapper_id
    paths = ["/account/security/", "/account/security/recover/", f"/account/security/wrappers/{passphrase}/remove/"]
    assert [line for path in paths for line in too_wide(security, path)] == []
    security.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert [line for path in paths for line in faults_at(security, path, themes)] == []
