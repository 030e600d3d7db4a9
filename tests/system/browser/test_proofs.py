"""What a person does after a decision, by keyboard alone; receipts and history, verified in the browser itself."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jwt
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit, receipts
from consent.ledger.models import AuditEntry, AuditHead
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from tests.factories import (
    AuditEntryFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    PersonFactory,
    ReadFactory,
    Vault,
)
from tests.patience import eventually
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, unlock, wait_for_values
from tests.system.browser.remembered import remember
from tests.system.browser.test_log import verify
from tests.system.browser.test_unapproved import approval_of

pytestmark = pytest.mark.browser

DRINK = "lifestyle.food.coffee_or_tea"


# An address with a fragment takes the focus away once more, in a frame of its own after the page has loaded.
AFTER_TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FOCUS = """selector => [
    document.activeElement.matches(selector), document.activeElement.matches(':focus-visible')
]"""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is there, with its ring to be seen."""
    page.wait_for_load_state()
    page.evaluate(AFTER_TWO_FRAMES)
    for _ in range(90):
        page.keyboard.press("Tab")
        there, ring = page.evaluate(FOCUS, selector)
        if there:
            assert ring
            return
    raise AssertionError(f"{selector} cannot be reached")


def press(page: Page, selector: str) -> None:
    tab_to(page, selector)
    page.keyboard.press("Enter")


def test_a_person_does_everything_by_keyboard_alone(
    page: Page, sign_in: SignIn, consent_request: ConsentRequest, tmp_path: Path
) -> None:
    sign_in(page, consent_request.user)
    press(page, f"a[href='/consent/requests/{consent_request.request_id}/']")
    expect(page.locator("#approve")).to_be_enabled()
    press(page, "#show-values")
    expect(page.locator("#unlock-passphrase")).to_be_focused()
    page.keyboard.type(PASSPHRASE)
    page.keyboard.press("Enter")
    expect(page.locator("#vault-chip")).to_have_attribute("data-state", "unlocked")
    tab_to(page, f"input[value='{DRINK}']")
    page.keyboard.press("Space")
    press(page, ".term[popovertarget=until-choices]")
    tab_to(page, "input[name=duration]")
    page.keyboard.press("ArrowLeft")  # an hour instead of a day
    wait_for_values(page)
    press(page, "#approve")
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    grant = Grant.objects.get(request=consent_request)
    assert (grant.expires_at - grant.starts_at).total_seconds() == 3600
    assert grant.approved_attributes
    assert DRINK not in grant.approved_attributes
    ReadFactory(export=grant.exports.get())
    Grant.objects.filter(pk=grant.pk).update(reads=1)

    press(page, f"a[href='/consent/apps/{grant.app.app_id}/?grant={grant.grant_id}#{grant.grant_id}']")
    card = page.locator(f"[id='{grant.grant_id}']")
    expect(card.locator(".approval-head .row-sub")).to_contain_text("1 read")
    for form, status, message in (
        ("pause", "paused", "Paused"), ("resume", "active", "Resumed"), ("stop", "revoked", "cannot be recalled"),
    ):  # fmt: skip
        by_form = f"form[action='/consent/grants/{grant.grant_id}/{form}/'] button"
        if form != "stop":
            press(page, f"[id='{grant.grant_id}'] .more > summary")
        press(page, f"[data-resume='{grant.grant_id}']" if form == "resume" else by_form)
        expect(page.locator(".messages")).to_contain_text(message)
        page.wait_for_load_state()
        grant.refresh_from_db()
        assert grant.status == status
    expect(page.locator("main")).to_contain_text("Stopped by you")

    newest = consent_request.receipts.order_by("-id")[0]
    sequence_and_sign()
    press(page, "a[href='/consent/history/']")
    page.wait_for_url("**/consent/history/")
    press(page, "#verify-history button")
    expect(page.locator("#verify-result")).to_contain_text("Your history is as it was written.")
    press(page, f"a[href='/consent/receipts/{newest.receipt_id}/']")
    page.wait_for_url(f"**/{newest.receipt_id}/")
    tab_to(page, f"a[href='/consent/receipts/{newest.receipt_id}/download/']")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "receipt.jws")
    press(page, "#verify-receipt")
    expect(page.locator("#receipt-result .notice-title")).to_have_text("This receipt is genuine.")
    assert claims_by_another_library((tmp_path / "receipt.jws").read_text())["event"]["type"] == "revoked"


def claims_by_another_library(text: str) -> dict[str, dict[str, str]]:
    """PyJWT is no part of the service: it knows nothing of it but the published keys."""
    keys = jwt.PyJWKSet.from_dict(receipts.public_keys())
    key = keys[jwt.get_unverified_header(text)["kid"]]
    claims: dict[str, dict[str, str]] = jwt.decode(text, key, algorithms=["EdDSA"], options={"verify_iat": False})
    return claims


# --- receipts ---------------------------------------------------------------------------------------------------------


def keys_are_here(page: Page) -> None:
    """Wait for the last thing that a page which verifies asks the service for."""
    came = (
        "() => performance.getEntriesByType('resource')"
        ".some((entry) => entry.name.endsWith('/.well-known/consent-keys.json') && entry.responseEnd > 0)"
    )
    eventually(lambda: page.evaluate(came), "the message")  # a predicate of Playwright's would be compiled in the page


def test_receipt_is_verified_without_a_connection(
    denied: Page, profile: BrowserContext, consent_request: ConsentRequest, tmp_path: Path
) -> None:
    receipt = consent_request.receipts.get()
    denied.get_by_role("link", name="See the receipt").click()
    expect(denied.locator("h1")).to_have_text("You denied “Food and drink” to Lunch Finder")
    keys_are_here(denied)

    profile.set_offline(True)
    denied.get_by_role("button", name="Verify this receipt").click()

    expect(denied.locator("#receipt-result .notice-title")).to_have_text("This receipt is genuine.")
    expect(denied.locator("#receipt-result li")).to_have_count(6)
    profile.set_offline(False)
    with denied.expect_download() as download:
        denied.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "receipt.jws")
    assert (tmp_path / "receipt.jws").read_text() == receipt.jws


def test_receipt_whose_text_was_changed_on_the_page_does_not_hold(
    denied: Page, consent_request: ConsentRequest
) -> None:
    denied.goto(f"/consent/receipts/{consent_request.receipts.get().receipt_id}/")
    denied.evaluate(
        "() => { const text = document.querySelector('#receipt-text');"
        " text.textContent = text.textContent.replace(/.$/, (end) => end === 'A' ? 'Q' : 'A'); }"
    )
    denied.get_by_role("button", name="Verify this receipt").click()
    expect(denied.locator("#receipt-result .notice-title")).to_have_text("This receipt cannot be trusted.")
    expect(denied.locator("#receipt-result")).to_contain_text("The signature does not fit")


@pytest.fixture
def receipt(site: str) -> str:
    """The text of a receipt that somebody holds."""
    from consent.decisions import actions as decision_actions

    consent_request = ConsentRequestFactory(app_name="Lunch Finder")
    decision_actions.deny(request_id=consent_request.request_id, by=consent_request.user)
    text: str = consent_request.receipts.get().app_jws
    return text


@pytest.fixture
def verify_page(page: Page) -> Page:
    page.goto("/consent/verify/")
    keys_are_here(page)
    return page


def test_pasted_receipt_is_checked_and_sent_nowhere(verify_page: Page, receipt: str) -> None:
    sent: list[str] = []
    verify_page.on("request", lambda request: sent.append(request.url))
    verify_page.locator("#receipt").fill(f"  {receipt}\n")
    verify_page.get_by_role("button", name="Verify").click()

    expect(verify_page.locator("#receipt-result .notice-title")).to_have_text("This receipt is genuine.")
    expect(verify_page.locator("#receipt-result .pairs")).to_contain_text("Denied")
    expect(verify_page.locator("#receipt-result .pairs")).to_contain_text("Suggest restaurants that you would like")
    assert sent == []


def test_chosen_and_dropped_files_are_checked(verify_page: Page, receipt: str) -> None:
    answer = json.dumps({"receipt_id": "rct_x", "jws": receipt, "claims": {}}).encode()
    verify_page.locator("#receipt-file").set_input_files(
        {"name": "receipt.json", "mimeType": "application/json", "buffer": answer}
    )
    expect(verify_page.locator("#receipt-result .notice-title")).to_have_text("This receipt is genuine.")

    verify_page.reload()
    keys_are_here(verify_page)
    dropped = verify_page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'r.jws')); return data; }", receipt
    )
    verify_page.dispatch_event("#verify-form", "drop", {"dataTransfer": dropped})
    expect(verify_page.locator("#receipt-result .notice-title")).to_have_text("This receipt is genuine.")


def _changed(receipt: str) -> str:
    head, payload, signature = receipt.split(".")
    return f"{head}.{payload[:40]}{'A' if payload[40] != 'A' else 'B'}{payload[41:]}.{signature}"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_changed, "The signature does not fit"),
        (lambda receipt: receipt[:-40], "The signature does not fit"),
        (lambda receipt: "hello", "This is no signed text"),
        (lambda receipt: "{not json", "This is no signed text"),
        (lambda receipt: receipts.sign({"iss": "x"}, "consent-checkpoint+jwt"), "It was made for something else"),
        (lambda receipt: receipts.sign({"iss": "https://evil.example"}, "consent-receipt+jwt"), "another issuer"),
    ],
    ids=["changed", "cut off", "no receipt", "broken", "another kind", "another issuer"],
)
def test_what_is_no_receipt_of_ours_is_said(
    verify_page: Page, receipt: str, change: Callable[[str], str], why: str
) -> None:
    verify_page.locator("#receipt").fill(change(receipt))
    verify_page.get_by_role("button", name="Verify").click()

    expect(verify_page.locator("#receipt-result .notice-title")).to_have_text("This receipt cannot be trusted.")
    expect(verify_page.locator("#receipt-result")).to_contain_text(why)
    expect(verify_page.locator("#receipt-result .pairs")).to_have_count(0)


# --- the history ------------------------------------------------------------------------------------------------------


def test_history_is_computed_again_in_the_browser_and_found_in_the_log(
    denied: Page, consent_request: ConsentRequest
) -> None:
    sequence_and_sign()
    result = verify(denied)
    expect(result.locator(".notice-title")).to_have_text("Not confirmed by others")
    expect(result).to_contain_text("Your history is as it was written.")
    expect(result).to_contain_text("1 entry is as it was written")
    expect(result).to_contain_text("The log is seen for the first time, and remembered")
    expect(result).to_contain_text("Your newest entries are in the log")
    expect(result).to_contain_text("Not checked: Whether others see the same log: nobody else watches it")
    expect(denied.locator("#verify-progress [data-count]")).to_have_text("1 of 1")

    denied.reload()
    denied.get_by_role("button", name="Check this history").click()
    expect(result).to_contain_text("The log begins with all that was seen of it before")


def test_first_entry_that_does_not_hold_is_named(denied: Page, consent_request: ConsentRequest) -> None:
    first = AuditEntry.objects.of(f"person:{consent_request.user.public_id}").get()
    second = AuditEntryFactory(chain=first.chain, sequence=2, prev_hash=first.entry_hash, kind="paused")
    AuditEntryFactory(chain=first.chain, sequence=3, prev_hash=second.entry_hash, entry_hash="A" * 43)
    AuditHead.objects.filter(chain=first.chain).update(sequence=3, entry_hash="A" * 43)
    verify(denied)

    expect(denied.locator("#verify-result .notice-title")).to_contain_text("does not hold")
    expect(denied.locator("#verify-result li")).to_contain_text("Entry 3. It is not what was written.")


def test_history_that_was_cut_off_is_noticed(denied: Page, consent_request: ConsentRequest) -> None:
    AuditHead.objects.filter(chain=audit.chain_id(f"person:{consent_request.user.public_id}")).update(
        sequence=2, entry_hash="A" * 43
    )
    verify(denied)
    expect(denied.locator("#verify-result li")).to_contain_text("Entry 2. The history ends before its newest entry.")


def test_history_is_verified_without_scripts_too(new_profile: NewProfile, sign_in: SignIn, site: str) -> None:
    user = PersonFactory()
    page = new_profile(java_script_enabled=False).new_page()
    sign_in(page, user, at="/consent/history/?kind=ends")
    grant = GrantFactory(request__user=user)
    ReadFactory(export=ExportFactory(grant=grant))
    approved = {"grant_id": grant.grant_id, "grant": facts_of(grant).as_facts()}
    audit.append(
        chain=audit.person_chain(user.public_id), kind="approved", actor="person", at=grant.starts_at, facts=approved
    )
    page.goto("/consent/history/")
    page.get_by_role("button", name="Check this history").click()
    expect(page.locator(".messages")).to_contain_text("Not confirmed by others. Your history has")
    expect(page.locator(".messages")).to_contain_text("it is as it was written")


def test_history_is_told_in_the_days_of_where_the_person_is(new_profile: NewProfile, sign_in_by_form: SignIn) -> None:
    owner = PersonFactory()
    for hour in (9, 11, 23):  # of one day in Greenwich; in Auckland the second one is midnight
        ReadFactory(
            export=ExportFactory(grant=GrantFactory(request__user=owner)), at=datetime(2026, 1, 10, hour, tzinfo=UTC)
        )
    page = new_profile(timezone_id="Pacific/Auckland").new_page()
    sign_in_by_form(page, owner)  # whose page says to the server where this browser is
    page.goto("/consent/history/")

    expect(page.locator(".timeline-day").first).to_contain_text("11")
    days = {
        heading.inner_text(): heading.locator("xpath=..").locator(".event").count()
        for heading in page.locator(".timeline-day").all()
    }
    assert days == {"11 January 2026": 2, "10 January 2026": 1}


# --- refreshing -------------------------------------------------------------------------------------------------------


def outdated(vault: Vault) -> Grant:
    """A continuous grant that the vault signed; what it is of is written over next."""
    consent_request = ConsentRequestFactory(user=vault.user, refresh_policy="continuous", status="approved")
    grant: Grant = GrantFactory(request=consent_request, approved_attributes=[DRINK])
    approval = approval_of(consent_request, vault.root, [DRINK])
    ExportFactory(grant=grant, approval=approval)
    remember(vault, consent_request, approval)
    return grant


@pytest.mark.parametrize("kept", [True, False])
def test_export_is_refreshed_while_the_person_lets_it(page: Page, sign_in: SignIn, vault: Vault, kept: bool) -> None:
    grant = outdated(vault)
    Grant.objects.filter(pk=grant.pk).update(kept_current=kept)
    vault.write("lifestyle", "food", {"coffee_or_tea": "tea"}, base=1)
    sign_in(
        page, vault.user, at=f"/consent/requests/{ConsentRequestFactory(user=vault.user, app=grant.app).request_id}/"
    )
    unlock(page)

    page.goto("/consent/grants/")

    if kept:
        expect(page.locator("#toasts")).to_contain_text("gets the newer values: Coffee or tea")
        expect(page.locator("[data-sealed]")).to_have_text("Sealed just now")
        assert grant.exports.count() == 2
    else:
        page.wait_for_load_state("networkidle")
        assert grant.exports.count() == 1


def test_an_export_that_cannot_be_refreshed_keeps_no_other_waiting(
    page: Page, sign_in: SignIn, vault: Vault, complaints: Complaints
) -> None:
    """The first one's export was refreshed meanwhile by nobody that this page knows of: the server refuses it."""
    first, second = outdated(vault), outdated(vault)
    vault.write("lifestyle", "food", {"coffee_or_tea": "tea"}, base=1)
    sign_in(
        page, vault.user, at=f"/consent/requests/{ConsentRequestFactory(user=vault.user, app=first.app).request_id}/"
    )
    unlock(page)
    page.route(f"**/consent/grants/{first.grant_id}/export", lambda route: route.fulfill(status=500, body="{}"))

    with complaints.expecting(500):
        page.goto("/consent/grants/")
        expect(page.locator("#toasts")).to_contain_text("gets the newer values: Coffee or tea")
        expect(page.locator("#toasts")).to_contain_text(f"{first.request.app_name}: ")
    assert (first.exports.count(), second.exports.count()) == (1, 2)
