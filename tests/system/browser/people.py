"""What people do on the pages, in the words of the tests."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Locator, Page, expect

from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from pkm.segments.models import Blob
from tests.factories import Vault
from tests.patience import eventually
from tests.totp import codes

EMAIL = "ann@example.org"  # of who makes an account with a passkey
PASSPHRASE = "gravel lantern otter plum 7"
SignIn = Callable[..., None]
NewProfile = Callable[..., BrowserContext]


def enter_code(page: Page, secret: str) -> None:
    """What the authenticator app shows, on the page after the password."""
    for code in codes(secret):
        page.locator("input[name=code]").fill(code)
        with page.expect_navigation():
            page.locator("input[name=code]").press("Enter")
        if "/accounts/2fa/" not in page.url:
            return
    raise AssertionError("no code was taken")


def eventually_on(page: Page, condition: Callable[[], object], what: str) -> None:
    """`eventually`, for what the browser tells of this page while it is waited on."""
    eventually(lambda: condition() or page.wait_for_timeout(10), what)


def unlock(page: Page, passphrase: str = PASSPHRASE) -> None:
    """Type the passphrase where this page asks for it, once its script is there; a sheet asks over itself."""
    expect(page.locator("#unlock-panel button[type=submit]")).to_be_enabled()
    if not page.locator("#unlock-panel button[type=submit]").is_visible():
        page.locator("#show-values").click()
    page.locator("#unlock-passphrase").fill(passphrase)
    page.locator("#unlock-passphrase").press("Enter")
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "unlocked")


def unlock_where_locked(page: Page) -> None:
    """As `unlock`, on a page whose vault may be open from before, once it says which."""
    chip = page.locator("#vault-chip")
    expect(chip).to_have_js_property("hidden", False)
    if chip.get_attribute("data-state") != "unlocked":
        unlock(page)


def lose_session(page: Page) -> None:
    """The tab leaves its page first: a call of that page without its cookie would be refused."""
    page.goto("about:blank")
    page.context.clear_cookies()


def lock(page: Page) -> None:
    """Lock the vault by the button in the header."""
    page.locator("#vault-lock").click()
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "locked")


class Taps(list[str]):
    """What was tapped, by its words; a field and the button that sends it are one."""

    def __call__(self, what: Locator) -> None:
        self.append(what.inner_text().strip())
        what.click()


def address(consent_request: ConsentRequest) -> str:
    return f"/consent/requests/{consent_request.request_id}/"


def open_unlocked(page: Page, path: str) -> None:
    """As somebody comes to a sheet who unlocked before."""
    page.goto("/vault/data/identity/")
    unlock(page)
    page.goto(path)
    wait_for_values(page)


def confirm_code(page: Page) -> str:
    """Type the group of the new recovery code back that is asked for, wrong first; the code."""
    groups = page.locator("#recovery-code code")
    expect(groups).to_have_count(8)
    code = groups.all_inner_texts()
    place = re.search(r"\d", page.locator("#confirm-label").inner_text())
    assert place is not None
    right = code[int(place[0]) - 1].lower()
    wrong = "AAAA" if right == "zzzz" else "ZZZZ"
    for typed in (wrong, right):
        page.locator("#confirm-group").fill(typed)
        page.locator("#confirm-form button[type=submit]").click()
        if typed == wrong:
            expect(page.locator("#confirm-form [data-error]")).to_be_visible()
    return "-".join(code)


def kept(vault: Vault, key: sealed.VaultKey | None = None) -> dict[str, Any]:
    """What their vault holds, opened as its owner would: domain.segment → values."""
    key = key or vault.key
    rows = Blob.objects.filter(user=vault.user, is_current=True, ciphertext__isnull=False)
    return {
        f"{row.domain}.{row.segment_id}": sealed.open_segment(
            row.ciphertext,
            key.secret,
            sealed.SegmentHeader(key.key_id, vault.user.public_id, row.domain, row.segment_id, row.content_revision),
        )
        for row in rows
    }


def enter(page: Page, segment: str, name: str, value: str) -> None:
    """Write into one field of a domain's page, without saving."""
    field = page.locator(f"#f-{segment}-{name}")
    if field.evaluate("element => element.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def save(page: Page, segment: str) -> None:
    page.locator(f"#{segment} [data-save]").click()
    expect(page.locator(f"#{segment} [data-state]")).to_have_text("Saved")


def wait_for_values(page: Page) -> None:
    """Until the review page shows the real values: Approve pressed before that shows them, and decides nothing."""
    expect(page.locator("[data-value].is-locked")).to_have_count(0)


def values_shown(page: Page) -> dict[str, str]:
    """The review page's rows: attribute path → what stands beside it."""
    rows = page.locator("[data-path]")
    return {row.get_attribute("data-path") or "": row.locator(".v").inner_text() for row in rows.all()}


def create_account(page: Page) -> None:
    """From nothing to where the vault is set up, with a passkey alone."""
    page.goto("/accounts/signup/")
    page.locator("input[name=email]").fill(EMAIL)
    page.get_by_role("button", name="Create account with a passkey").click()
    expect(page.locator("main")).to_contain_text(f"For {EMAIL}.")
    page.get_by_role("button", name="Create the passkey").click()
    page.wait_for_url("**/vault/setup/")


def emulate_authenticator(page: Page, *, prf: bool = True, verifies: bool = True) -> CDPSession:
    """A device that makes passkeys for this tab, touched and verified by itself: Chromium's own emulation."""
    options = {
        "protocol": "ctap2",
        "ctap2Version": "ctap2_1",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "hasPrf": prf,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session
