"""From nothing to opened data without any password, in a real browser with a virtual authenticator."""

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from accounts.models import User
from accounts.sign_in.passkeys import ids_of_passkeys
from pkm.vault.models import KeyWrapper
from tests.factories import PersonFactory, give_vault
from tests.system.browser.people import PASSPHRASE, SignIn, confirm_code, emulate_authenticator, lock

pytestmark = pytest.mark.browser
EMAIL = "ann@example.org"


def create_account(page: Page) -> None:
    page.goto("/accounts/signup/")
    page.get_by_role("link", name="Create account with a passkey").click()
    page.locator("input[name=email]").fill(EMAIL)
    page.locator("input[name=email]").press("Enter")
    expect(page.locator("main")).to_contain_text(f"For {EMAIL}.")
    page.get_by_role("button", name="Create the passkey").click()
    page.wait_for_url("**/vault/setup/")


def test_an_account_and_its_data_need_no_password_at_all(page: Page, site: str) -> None:
    emulate_authenticator(page)
    create_account(page)
    page.get_by_role("button", name="Go on with a passkey").click()
    code = confirm_code(page)
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    page.locator("#first-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/preview/")

    page.goto("/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.goto("/accounts/login/?next=/vault/data/lifestyle/")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{site}/vault/data/lifestyle/")
    expect(page.locator("#unlock-passphrase")).to_be_hidden()  # there is none
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_label("Favourite cuisine")).to_have_value("Thai")
    lock(page)
    page.goto("/vault/data/lifestyle/")
    page.locator("#unlock-recovery").fill(code)
    page.locator("#unlock-recovery").press("Enter")
    expect(page.get_by_label("Favourite cuisine")).to_have_value("Thai")

    user = User.objects.get(email=EMAIL)
    assert not user.has_usable_password()
    assert Authenticator.objects.filter(user_id=user.pk).count() == 1
    assert sorted(KeyWrapper.objects.values_list("kind", flat=True)) == ["passkey", "recovery"]
    # one passkey does both, so that no device ever asks which of two
    assert KeyWrapper.objects.get(kind="passkey").credential_id == ids_of_passkeys(user)[0]


def test_a_passkey_for_the_data_alone_says_that_it_signs_nobody_in(page: Page, sign_in: SignIn) -> None:
    vault = give_vault(PersonFactory(), {}, passphrase=PASSPHRASE)
    emulate_authenticator(page)
    sign_in(page, vault.user, at="/account/security/")
    page.locator("[data-add=passkey]").click()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#add-submit").click()
    expect(page.locator("#ways .t")).to_have_count(3)
    page.goto("/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("This passkey does not sign you in here.")).to_be_visible()


def test_a_passkey_that_is_not_made_leaves_no_account(page: Page, site: str) -> None:
    """The device checks nobody: it refuses, the page says so, and the person may choose another way."""
    emulate_authenticator(page, verifies=False)
    page.goto("/accounts/signup/passkey/")
    page.locator("input[name=email]").fill(EMAIL)
    page.locator("input[name=email]").press("Enter")
    page.get_by_role("button", name="Create the passkey").click()
    expect(page.get_by_role("status").filter(has_text="passkey")).to_be_visible()
    assert not User.objects.filter(email=EMAIL).exists()
    page.get_by_role("link", name="Use another address").click()
    page.get_by_role("link", name="Use a password instead").click()
    expect(page.locator("input[name=password1]")).to_be_visible()
