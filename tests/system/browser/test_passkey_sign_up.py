"""From nothing to opened data without any password, in a real browser with a virtual authenticator."""

import json
from urllib.parse import parse_qs

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from accounts.models import User
from accounts.sign_in.passkeys import ids_of_passkeys
from pkm.vault.models import KeyWrapper
from tests.factories import ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.factories.accounts import PASSWORD
from tests.system.browser.people import (
    EMAIL,
    PASSPHRASE,
    SignIn,
    Taps,
    address,
    confirm_code,
    create_account,
    emulate_authenticator,
    lock,
    lose_session,
    wait_for_values,
)

pytestmark = pytest.mark.browser
SETTINGS = "/account/settings/"


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
    expect(page.get_by_label("Favourite cuisine")).to_have_value("Thai")  # signing in unlocked
    lock(page)
    page.goto("/vault/data/lifestyle/")
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


@pytest.mark.parametrize(("way", "most"), [("password", 7), ("passkey", 5)])
def test_from_sign_up_to_the_first_value_are_few_taps(page: Page, site: str, way: str, most: int) -> None:
    tap = Taps()
    emulate_authenticator(page)
    page.goto("/accounts/signup/")
    page.locator("input[name=email]").fill(EMAIL)
    if way == "password":
        page.locator("input[name=password1]").fill(PASSWORD)
        tap(page.get_by_role("button", name="Create account", exact=True))
        page.locator("#new-passphrase").fill(PASSPHRASE)
        tap(page.locator("#passphrase-form button[type=submit]"))
    else:
        tap(page.get_by_role("button", name="Create account with a passkey"))
        tap(page.get_by_role("button", name="Create the passkey"))
        tap(page.get_by_role("button", name="Go on with a passkey"))
    confirm_code(page)
    tap.append("the group of the code")
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    tap(page.locator("#first-form button[type=submit]"))
    page.wait_for_url("**/vault/setup/preview/")
    assert len(tap) <= most, tap


def test_from_a_mails_link_to_approved_are_three_taps_and_one_prompt(page: Page, site: str) -> None:
    """The link, the passkey, Approve: what signs in unlocks. What opens the vault never leaves the browser."""
    device = emulate_authenticator(page)
    create_account(page)
    page.get_by_role("button", name="Go on with a passkey").click()
    confirm_code(page)
    page.locator("#first-lifestyle-food-favorite_cuisine").fill("Thai")
    page.locator("#first-form button[type=submit]").click()
    page.wait_for_url("**/vault/setup/preview/")
    consent_request = ConsentRequestFactory(user=User.objects.get(email=EMAIL), app_name="Lunch Finder")
    lose_session(page)
    prompts: list[object] = []
    sent: list[str] = []
    device.on("WebAuthn.credentialAsserted", lambda parameters: prompts.append(parameters))
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)

    page.goto(address(consent_request))
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{site}{address(consent_request)}")
    wait_for_values(page)
    page.locator("#approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    assert len(prompts) == 1
    (credential,) = (
        parse_qs(body)["credential"][0] for body in sent if body.startswith("csrf") and "credential=" in body
    )
    assert json.loads(credential)["clientExtensionResults"] == {}


def with_passkey_for_the_data(page: Page, sign_in: SignIn) -> Vault:
    """Somebody who added a passkey that opens their vault, and signs nobody in."""
    vault = give_vault(PersonFactory(), {}, passphrase=PASSPHRASE)
    emulate_authenticator(page)
    sign_in(page, vault.user, at="/account/security/")
    page.locator("[data-add=passkey]").click()
    page.locator("#existing-secret").fill(PASSPHRASE)
    page.locator("#add-submit").click()
    expect(page.locator("#ways .t")).to_have_count(3)
    return vault


def test_what_a_passkey_gave_opens_nothing_once_its_sign_in_was_refused(page: Page, sign_in: SignIn) -> None:
    """Nobody's page drops it: whoever signs in next unlocks by themselves."""
    vault = with_passkey_for_the_data(page, sign_in)
    lose_session(page)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("This passkey does not sign you in here.")).to_be_visible()
    sign_in(page, vault.user, at="/vault/data/lifestyle/")
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "locked")
    expect(page.locator("#unlock-passphrase")).to_be_visible()


def test_a_passkey_for_the_data_alone_says_that_it_signs_nobody_in(page: Page, sign_in: SignIn) -> None:
    with_passkey_for_the_data(page, sign_in)
    page.goto("/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("This passkey does not sign you in here.")).to_be_visible()


def test_a_passkey_that_is_added_signs_in_and_confirms(page: Page, sign_in: SignIn, site: str) -> None:
    person = PersonFactory()
    emulate_authenticator(page)
    sign_in(page, person, at="/accounts/2fa/webauthn/add/")
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    page.locator("input[name=passwordless]").check()
    page.get_by_role("button", name="Add it").click()
    page.wait_for_url(lambda url: "/add/" not in url)
    assert len(ids_of_passkeys(person)) == 1
    page.goto(f"/accounts/2fa/webauthn/reauthenticate/?next={SETTINGS}")
    page.get_by_role("button", name="Use a passkey or security key").click()
    page.wait_for_url(f"{site}{SETTINGS}")

    lose_session(page)
    page.goto(f"/accounts/login/?next={SETTINGS}")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{site}{SETTINGS}")


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
