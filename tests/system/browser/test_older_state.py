"""A service that shows an older state than a browser saw: said before anything is sealed, never without reason."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from common import encryption
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from pkm.notes import VaultNotes
from pkm.vault.models import KeyWrapper, VaultKey
from tests.callers import signed_in
from tests.factories import ConsentRequestFactory, Vault
from tests.system.backup import Backup
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import (
    PASSPHRASE,
    SignIn,
    confirm_code,
    enter,
    save,
    unlock,
    unlock_where_locked,
    wait_for_values,
)
from tests.system.browser.remembered import records_of
from tests.system.browser.test_change_key import begin, done
from tests.system.browser.test_log import open_vault

pytestmark = pytest.mark.browser
NewProfile = Callable[..., Page]
BANNER = "The service shows an older state than this browser saw"


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, refresh_policy="continuous")
    return made


def approve(page: Page, consent_request: ConsentRequest) -> None:
    page.goto(f"/consent/requests/{consent_request.request_id}/")
    unlock_where_locked(page)
    wait_for_values(page)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")


def change_cuisine(page: Page, value: str) -> None:
    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "favorite_cuisine", value)
    save(page, "food")


def is_calm(page: Page) -> None:
    """Neither here nor where what went back would stand."""
    expect(page.locator("#way-back")).to_be_hidden()
    page.goto("/consent/history/")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#older-state")).to_be_hidden()
    expect(page.locator("#way-back")).to_be_hidden()


def test_a_database_restored_to_yesterday_is_told_before_anything_is_sealed(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, tmp_path: Path
) -> None:
    later = ConsentRequestFactory(
        user=vault.user, app=consent_request.app, scope=consent_request.scope, scope_entry=consent_request.scope_entry
    )
    sign_in(page, vault.user)
    approve(page, consent_request)
    change_cuisine(page, "Korean")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    yesterday = Backup(tmp_path)
    for value in ("Greek", "Georgian"):
        change_cuisine(page, value)
        expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    page.goto("/consent/grants/")
    page.locator("form[data-stop] button").click()
    expect(page.get_by_text("Sharing has stopped.")).to_be_visible()

    yesterday.restore()
    assert Grant.objects.get().status == "active"  # what was stopped is back
    sign_in(page, vault.user)
    open_vault(page)

    expect(page.locator("#way-back")).to_contain_text(BANNER)
    page.goto("/consent/grants/")
    page.wait_for_load_state("networkidle")
    page.goto(f"/consent/requests/{later.request_id}/")
    expect(page.locator("#way-back")).to_contain_text(BANNER)
    assert [export.revision for export in Export.objects.order_by("revision")] == [1, 2]

    page.locator("#way-back").get_by_role("link", name="See what went back").click()
    notice = page.locator("#older-state")
    expect(notice).to_contain_text("Seen here last")
    expect(notice).to_contain_text("Lifestyle")
    expect(notice).to_contain_text("2 changes went back")
    expect(notice).to_contain_text("Ask the operator what happened")
    expect(notice).to_contain_text("As long as you wait, nothing is shared from here")


def test_a_browser_that_remembers_a_vault_makes_no_other_before_its_person_knows(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """Whoever writes the database removed it."""
    sign_in(page, vault.user)
    approve(page, consent_request)
    for rows in (KeyWrapper, VaultNotes, VaultKey):
        rows.objects.all().delete()

    page.goto("/vault/setup/")
    expect(page.locator("[data-remembered]")).to_contain_text("the service shows none")
    page.locator("#new-passphrase").fill("cobalt ferry thimble 9 dune")
    page.locator("#passphrase-form button[type=submit]").click()
    expect(page.locator("#passphrase-form [data-error]")).to_contain_text("This browser remembers a vault of yours")

    page.locator("[data-remembered] input").check()
    page.locator("#passphrase-form button[type=submit]").click()
    confirm_code(page)
    page.wait_for_url("**/vault/setup/first/")
    assert VaultKey.objects.exists()


def test_who_goes_on_is_asked_again_about_what_may_have_been_stopped(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, tmp_path: Path
) -> None:
    sign_in(page, vault.user)
    approve(page, consent_request)
    yesterday = Backup(tmp_path)
    change_cuisine(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    yesterday.restore()
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/history/")

    page.get_by_role("button", name="Go on with the older state").click()
    with page.expect_navigation():
        page.get_by_role("button", name="I know of the restore: go on").click()

    is_calm(page)
    assert records_of(vault, consent_request) == {}
    change_cuisine(page, "Korean")
    expect(page.locator("#toasts")).to_contain_text("updates do not match what you approved")
    assert [export.revision for export in Export.objects.all()] == [1]


def test_notes_that_are_gone_or_were_replaced_stop_a_decision(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    sign_in(page, vault.user)
    approve(page, consent_request)
    VaultNotes.objects.all().delete()
    second = ConsentRequestFactory(user=vault.user)

    page.goto(f"/consent/requests/{second.request_id}/")
    expect(page.locator("#way-back")).to_contain_text(BANNER)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator("#review-problem")).to_contain_text("The service shows an older state")

    second.refresh_from_db()
    assert second.status == "pending"


def test_notes_that_are_gone_are_told_on_a_device_that_remembers_nothing(
    page: Page, sign_in: SignIn, vault: Vault
) -> None:
    """The way in says that the vault was made with them. Its history is empty, and nothing can go on."""
    made_with_notes = replace(vault.key, has_notes=True)
    wrapped = sealed.wrap(made_with_notes, "passphrase", PASSPHRASE, vault.user.public_id)
    KeyWrapper.objects.filter(user=vault.user, kind="passphrase").update(jwe=encryption.sealed(wrapped))
    sign_in(page, vault.user, at="/consent/history/")
    open_vault(page)

    page.goto("/consent/history/")

    expect(page.locator("#older-state")).to_contain_text("only a new vault helps")
    expect(page.get_by_role("button", name="Go on with the older state")).to_have_count(0)


def test_a_segment_that_was_put_back_is_not_sealed(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, tmp_path: Path
) -> None:
    """All tables but the notes and the history are as they were: what was sealed of the segment before counts."""
    sign_in(page, vault.user)
    approve(page, consent_request)
    yesterday = Backup(tmp_path)
    change_cuisine(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    notes = VaultNotes.objects.get()
    yesterday.restore()
    VaultNotes.objects.update(jwe=notes.jwe, revision=notes.revision)
    second = ConsentRequestFactory(user=vault.user)
    sign_in(page, vault.user)
    open_vault(page)

    page.goto(f"/consent/requests/{second.request_id}/")

    expect(page.locator("#way-back")).to_contain_text(BANNER)


def test_notes_that_were_put_back_are_told_on_a_device_that_remembers_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, new_profile: NewProfile
) -> None:
    """The person's history tells of a later state than the vault is in, whoever put it back."""
    sign_in(page, vault.user)
    approve(page, consent_request)
    before = VaultNotes.objects.get()
    change_cuisine(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    VaultNotes.objects.update(jwe=before.jwe, revision=before.revision)
    second = ConsentRequestFactory(user=vault.user)
    other = new_profile().new_page()
    sign_in(other, vault.user, at=f"/consent/requests/{second.request_id}/")
    unlock(other)
    wait_for_values(other)

    other.get_by_role("button", name="Approve", exact=True).click()

    expect(other.locator("#way-back")).to_contain_text(BANNER)
    assert not Grant.objects.filter(request=second).exists()
    other.goto("/consent/history/")
    expect(other.locator("#older-state")).to_contain_text("It tells of a later state of your vault")


# --- what is no rollback ----------------------------------------------------------------------------------------------


def test_a_second_device_and_its_changes_are_no_rollback(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, new_profile: NewProfile
) -> None:
    sign_in(page, vault.user)
    approve(page, consent_request)
    other = new_profile().new_page()
    sign_in(other, vault.user)
    open_vault(other)
    change_cuisine(other, "Greek")
    expect(other.locator("#toasts")).to_contain_text("gets the newer values")

    change_cuisine(page, "Korean")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    assert [export.revision for export in Export.objects.order_by("revision")] == [1, 2, 3]
    is_calm(page)
    change_cuisine(other, "Georgian")
    expect(other.locator("#toasts")).to_contain_text("gets the newer values")
    is_calm(other)


def test_a_stop_and_a_hidden_scope_while_locked_are_no_rollback(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    sign_in(page, vault.user)
    approve(page, consent_request)
    page.locator("#vault-lock").click()
    person = signed_in(vault.user)
    assert person.put("/vault/hidden-scopes/attr.lifestyle.food.*", {}).status_code == 204
    assert person.post(f"/consent/grants/{Grant.objects.get().grant_id}/revoke").status_code == 200

    open_vault(page)
    change_cuisine(page, "Greek")

    is_calm(page)


def test_a_write_whose_answer_never_came_is_no_rollback(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, complaints: Complaints
) -> None:
    """The decision and its notes stand, and this browser does not know: what it finds is newer than what it saw."""
    sign_in(page, vault.user)
    page.goto(f"/consent/requests/{consent_request.request_id}/")
    unlock(page)
    wait_for_values(page)

    def lose(route: Route) -> None:
        route.fetch()  # the service does it, and the answer is lost
        route.fulfill(status=502, body="gone")

    page.route("**/decision", lose)
    with complaints.expecting(502):
        page.get_by_role("button", name="Approve", exact=True).click()
        expect(page.locator("#review-problem")).to_be_visible()
    page.unroute("**/decision")

    assert Grant.objects.count() == 1
    change_cuisine(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    is_calm(page)


def test_a_change_of_the_key_is_no_rollback_and_the_old_key_put_back_is(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, new_profile: NewProfile, tmp_path: Path
) -> None:
    sign_in(page, vault.user)
    approve(page, consent_request)
    before = Backup(tmp_path)
    page.goto("/account/security/key/")
    begin(page)
    done(page)
    is_calm(page)
    change_cuisine(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    is_calm(page)

    before.restore()
    sign_in(page, vault.user)
    open_vault(page)

    expect(page.locator("#way-back")).to_contain_text(BANNER)
