"""What a vault signs, in a real browser: resuming, another root, a changed root, the first one of a vault without."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from consent.approvals.models import ApprovalKey
from consent.grants.models import Grant
from consent_bridge import sealed
from consent_bridge.client import Client
from consent_bridge.results import MadeRequest
from developers.models import App
from pkm.notes import VaultNotes
from pkm.vault.models import VaultKey
from tests.callers import signed_in
from tests.factories import AppFactory, TokenFactory, Vault, known_as
from tests.pkm.sealed_notes import opened_notes
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import SignIn, enter, save, unlock, unlock_where_locked, wait_for_values
from tests.system.browser.test_change_key import NEW_PASSPHRASE, begin, done
from tests.system.browser.test_log import open_vault

pytestmark = pytest.mark.browser
KEY = sealed.generate_connector_key()


@pytest.fixture
def client(site: str) -> Iterator[Client]:
    app: App = AppFactory(name="Lunch Finder")
    with Client(f"{site}/api/v1", TokenFactory(app=app).secret) as made:
        yield made


@pytest.fixture
def made_request(client: Client, vault: Vault) -> MadeRequest:
    return ask(client, vault)


def ask(client: Client, vault: Vault) -> MadeRequest:
    terms = {"purpose": "Suggest restaurants near you", "key": KEY, "refresh_policy": "continuous"}
    return client.request_consent(known_as(App.objects.get(), vault.user), "attr.lifestyle.food.*", **terms)


def approve(page: Page, made_request: MadeRequest) -> None:
    page.goto(f"/consent/requests/{made_request.request_id}/")
    unlock_where_locked(page)
    wait_for_values(page)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def cuisine(client: Client, made_request: MadeRequest) -> str:
    """What the app reads: signed, or nothing."""
    found: str = client.read(made_request, KEY).data["lifestyle"]["food"]["favorite_cuisine"]
    return found


def change_cuisine(page: Page, value: str) -> None:
    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "favorite_cuisine", value)
    save(page, "food")


def test_a_paused_grant_goes_on_once_the_vault_is_unlocked(
    page: Page, sign_in: SignIn, vault: Vault, client: Client, made_request: MadeRequest
) -> None:
    sign_in(page, vault.user)
    approve(page, made_request)
    grant = Grant.objects.get()
    page.locator("#vault-lock").click()
    page.goto("/consent/grants/")
    with page.expect_navigation():  # whose script has Resume in hand
        page.get_by_role("button", name="Pause").click()
    resume = page.get_by_role("button", name="Resume")

    resume.click()
    expect(page.locator("#unlock-passphrase")).to_be_focused()
    assert Grant.objects.get().status == "paused"
    unlock(page)
    resume.click()

    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    grant.refresh_from_db()
    assert (grant.status, grant.resume_nonce) == ("active", "")
    assert cuisine(client, made_request) == "Thai"


def test_resuming_what_was_stopped_meanwhile_is_told(
    page: Page, sign_in: SignIn, vault: Vault, made_request: MadeRequest, complaints: Complaints
) -> None:
    sign_in(page, vault.user)
    approve(page, made_request)
    page.goto("/consent/grants/")
    with page.expect_navigation():  # whose script has Resume in hand
        page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    grant = Grant.objects.get()
    assert signed_in(vault.user).post(f"/consent/grants/{grant.grant_id}/revoke").status_code == 200

    with complaints.expecting(409):
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("#resume-problem")).to_be_focused()
        expect(page.locator("#resume-problem")).to_contain_text("This sharing changed in the meantime.")

    grant.refresh_from_db()
    assert grant.status == "revoked"


def test_another_root_is_followed_by_the_app_that_knew_the_old_one(
    page: Page, sign_in: SignIn, vault: Vault, client: Client, made_request: MadeRequest
) -> None:
    sign_in(page, vault.user)
    approve(page, made_request)
    assert cuisine(client, made_request) == "Thai"
    old = ApprovalKey.objects.get().public_key
    page.goto("/account/security/key/")
    begin(page)
    done(page)

    page.locator("#replace-root").click()

    expect(page.locator("#root-state")).to_have_text("The signing key is replaced.")
    stored = VaultKey.objects.get()
    assert stored.signing_public_key != vault.root.key.public
    assert ApprovalKey.objects.get().public_key != old
    assert cuisine(client, made_request) == "Thai"  # signed by the old key, and taken while that counted
    change_cuisine(page, "Lao")
    expect(page.locator("#toasts")).to_contain_text("do not match what you approved")  # the old key may be somebody's
    page.goto("/consent/grants/")
    page.locator("form[data-stop] button").click()
    expect(page.get_by_text("Sharing has stopped.")).to_be_visible()
    again = ask(client, vault)
    approve(page, again)
    assert cuisine(client, again) == "Lao"
    pin = client.pins.find(settings.ISSUER, again.user_id)
    assert pin is not None
    assert pin.key == ApprovalKey.objects.get().public_key
    page.locator("#vault-lock").click()
    open_vault(page, NEW_PASSPHRASE)  # what unlocks the vault opens the new root, too
    expect(page.locator("#way-back")).to_be_hidden()


def test_the_notes_are_sealed_again_with_the_key(
    page: Page, sign_in: SignIn, vault: Vault, client: Client, made_request: MadeRequest
) -> None:
    sign_in(page, vault.user)
    approve(page, made_request)
    before = opened_notes(VaultNotes.objects.get().jwe, vault.key.secret)
    known = before["connectors"][made_request.app_id]
    assert known == [made_request.connector_fingerprint]

    page.goto("/account/security/key/")
    begin(page)
    done(page)

    kept = VaultNotes.objects.get()
    assert kept.resealed == ""
    with pytest.raises(sealed.CannotOpen):
        opened_notes(kept.jwe, vault.key.secret)
    again = ask(client, vault)
    page.goto(f"/consent/requests/{again.request_id}/")
    wait_for_values(page)  # this browser opens them: the key is not new to it
    expect(page.locator("#new-key")).to_have_count(0)


def test_a_root_that_somebody_changed_alarms_and_approves_nothing(
    page: Page, sign_in: SignIn, vault: Vault, client: Client, made_request: MadeRequest
) -> None:
    VaultKey.objects.update(signing_public_key=sealed.generate_root().key.public)
    sign_in(page, vault.user, at=f"/consent/requests/{made_request.request_id}/")
    unlock(page)

    expect(page.locator("#way-back [data-title]")).to_have_text("Somebody changed your approval key")
    expect(page.locator("#way-back a")).to_have_attribute("href", "/account/security/")
    wait_for_values(page)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator("#review-problem")).to_contain_text("another approval key than the one in your vault")
    assert not Grant.objects.exists()
    page.get_by_role("button", name="Deny").click()  # protection needs no key
    expect(page.locator(".outcome h1")).to_have_text("You denied this")


def test_a_vault_without_a_root_gets_one_when_it_is_unlocked(
    page: Page, sign_in: SignIn, vault: Vault, client: Client, made_request: MadeRequest
) -> None:
    VaultKey.objects.update(signing_public_key=None, signing_jwe="")
    sign_in(page, vault.user)
    with page.expect_response("**/vault/signing-key") as answered:
        open_vault(page)

    assert answered.value.status == 200
    approve(page, made_request)
    assert cuisine(client, made_request) == "Thai"


def test_a_vault_without_a_root_and_an_older_sign_in_ask_to_confirm(
    page: Page, sign_in: SignIn, vault: Vault, made_request: MadeRequest, complaints: Complaints
) -> None:
    """A stolen session may know nothing of the vault: the first root is not set on its word."""
    VaultKey.objects.update(signing_public_key=None, signing_jwe="")
    session = signed_in(vault.user, seconds_ago=601).client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": settings.BASE_URL}])
    with complaints.expecting(403):
        page.goto(f"/consent/requests/{made_request.request_id}/")
        with page.expect_response("**/vault/signing-key") as refused:  # the first try, which nobody is told of
            unlock(page)
        assert refused.value.status == 403
        wait_for_values(page)
        page.get_by_role("button", name="Approve", exact=True).click()
        expect(page.locator("#way-back [data-title]")).to_have_text("Confirm that it is you")

    assert VaultKey.objects.get().signing_public_key is None
    assert not Grant.objects.exists()
