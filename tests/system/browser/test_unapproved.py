"""What a vault did not approve is not sent from it, whatever somebody wrote into the database: in a real browser."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Locator, Page, expect

from common import encryption
from common.clock import database_now
from common.sql.triggers import lifted
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditFacts, LogQueue
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from consent_bridge.signatures import sha256, thumbprint
from consent_bridge.signing import generate_root, signed_approval
from pkm.notes import VaultNotes
from pkm.vault.models import KeyWrapper
from tests.callers import signed_in
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, Vault
from tests.pkm.sealed_notes import sealed_notes
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import PASSPHRASE, SignIn, enter, save, unlock, wait_for_values
from tests.system.browser.remembered import notes_of, records_of, remember
from tests.system.browser.test_log import open_vault, rules_of

pytestmark = pytest.mark.browser
FOOD = ["lifestyle.food.coffee_or_tea", "lifestyle.food.favorite_cuisine"]


@pytest.fixture
def consent_request(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, refresh_policy="continuous", status="approved")
    return made


def granted(consent_request: ConsentRequest, approval: str, attributes: list[str] = FOOD) -> Grant:
    """A live grant with an export that is outdated."""
    grant: Grant = GrantFactory(request=consent_request, approved_attributes=attributes)
    ExportFactory(grant=grant, sources=[], approval=approval)
    return grant


def approval_of(consent_request: ConsentRequest, root: Any, attributes: list[str] = FOOD, **changes: Any) -> str:
    """What a vault with this root signed when it approved; `changes` are of the export's members."""
    members = {
        "iss": settings.ISSUER,
        "sub": consent_request.pairwise_id,
        "aud": consent_request.app.app_id,
        "request_id": consent_request.request_id,
        "request_digest": consent_request.request_digest,
        "revision": 1,
        **changes,
    }
    approval: str = signed_approval(
        root,
        members,
        approved_attributes=attributes,
        access_duration=consent_request.access_duration,
        ends_at=int(consent_request.decided_at.timestamp()) + consent_request.access_duration,
        sealed="any",
    )["approval"]
    return approval


def remembered(vault: Vault, consent_request: ConsentRequest, approval: str, attributes: list[str] = FOOD) -> Grant:
    """The same, of which the vault's notes have a record."""
    remember(vault, consent_request, approval)
    return granted(consent_request, approval, attributes)


def add_to_history(vault: Vault, consent_request: ConsentRequest, kind: str = "approved") -> None:
    """As the service enters it."""
    facts = {"request_digest": consent_request.request_digest}
    chain = audit.person_chain(vault.user.public_id)
    audit.append(chain=chain, kind=kind, actor="system", at=consent_request.decided_at, facts=facts)


def refused(page: Page, sign_in: SignIn, vault: Vault, grant: Grant) -> None:
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")
    card = page.locator(f"#{grant.grant_id}")
    expect(card.locator("[data-unapproved]")).to_contain_text("updates do not match what you approved")
    expect(page.locator("#toasts")).to_contain_text("so nothing was sent")
    assert [export.revision for export in Export.objects.all()] == [1]


@pytest.mark.parametrize("signed_by", ["nobody", "another vault"])
def test_a_grant_that_the_vault_did_not_sign_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, signed_by: str
) -> None:
    approval = "signed.by.nobody" if signed_by == "nobody" else approval_of(consent_request, generate_root())

    refused(page, sign_in, vault, granted(consent_request, approval))


@pytest.mark.parametrize(
    "changes",
    [
        {"attributes": FOOD[:1]},
        {"request_digest": "A" * 43},
        {"request_id": "req_another"},
        {"sub": "usr_another"},
    ],
)
def test_a_grant_of_more_or_else_than_the_vault_signed_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, changes: dict[str, Any]
) -> None:
    refused(page, sign_in, vault, granted(consent_request, approval_of(consent_request, vault.root, **changes)))


def test_what_the_vault_signed_and_remembers_is_renewed(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """The same rows with the vault's own approval and its record: what refuses above and below is these alone."""
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    newest = Export.objects.get(revision=2)
    assert records_of(vault, consent_request) == {
        consent_request.request_digest: [
            [consent_request.attributes.index(path) for path in sorted(FOOD, key=consent_request.attributes.index)],
            int(consent_request.decided_at.timestamp()) + consent_request.access_duration,
            2,
            sha256(str(newest.approval)),
        ]
    }


def test_an_approval_that_the_vault_signed_once_and_does_not_remember_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """A genuine one, of a grant that was stopped, which somebody put back."""
    refused(page, sign_in, vault, granted(consent_request, approval_of(consent_request, vault.root)))


def test_another_approval_than_the_one_remembered_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """Genuine and of the same request, but older than the last revision that the vault sealed, or never sent."""
    remember(vault, consent_request, approval_of(consent_request, vault.root))

    refused(page, sign_in, vault, granted(consent_request, approval_of(consent_request, vault.root, revision=3)))


def test_more_than_is_remembered_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    refused(
        page, sign_in, vault, remembered(vault, consent_request, approval_of(consent_request, vault.root, FOOD[:1]))
    )


@pytest.mark.parametrize("how", ["stopped by form while locked", "superseded"])
def test_what_the_history_says_ended_gets_nothing_whatever_the_rows_say(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, how: str
) -> None:
    """Stopped by somebody who did not unlock; then its row, its approval and its request are brought back to life."""
    grant = remembered(vault, consent_request, approval_of(consent_request, vault.root))
    if how == "superseded":
        add_to_history(vault, consent_request, "superseded")
    else:
        assert signed_in(vault.user).post(f"/consent/grants/{grant.grant_id}/revoke").status_code == 200
        with lifted(connection, rules_of("consent_grants")):
            Grant.objects.update(status="active", ended_at=None, ended_by="")

    refused(page, sign_in, vault, grant)

    assert records_of(vault, consent_request) == {}


def test_an_end_whose_facts_somebody_took_away_stops_all(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """The entry's hash holds without them, and nothing would tell what it ended."""
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    add_to_history(vault, consent_request, "revoked")
    with lifted(connection, rules_of("audit_facts")):
        AuditFacts.objects.all().delete()
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    expect(page.locator("#way-back")).to_contain_text("The service shows an older state than this browser saw")
    assert [export.revision for export in Export.objects.all()] == [1]


@pytest.mark.parametrize("how_old", ["an hour", "new"])
def test_a_history_that_the_log_does_not_have_stops_all_after_ten_minutes(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, how_old: str
) -> None:
    """Somebody took a stop out and hashed what came after it again: the log has none of that. What is new may wait."""
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    add_to_history(vault, consent_request)
    sequence_and_sign()
    at = database_now() - timedelta(hours=1 if how_old == "an hour" else 0)
    chain = audit.person_chain(vault.user.public_id)
    audit.append(chain=chain, kind="denied", actor="person", at=at, facts={"request_digest": "A" * 43})
    LogQueue.objects.all().delete()
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    if how_old == "new":
        expect(page.locator("#toasts")).to_contain_text("gets the newer values")
        kept = notes_of(vault)
        assert (kept["history"]["sequence"], kept["proved"]["sequence"]) == (2, 1)
    else:
        expect(page.locator("#way-back")).to_contain_text("The service shows an older state than this browser saw")
        assert [export.revision for export in Export.objects.all()] == [1]


def test_a_first_approval_too_stops_where_the_log_lacks_the_history(page: Page, sign_in: SignIn, vault: Vault) -> None:
    pending = ConsentRequestFactory(user=vault.user)
    chain, at = audit.person_chain(vault.user.public_id), database_now() - timedelta(hours=1)
    audit.append(chain=chain, kind="denied", actor="person", at=at, facts={"request_digest": "A" * 43})
    queued = list(LogQueue.objects.all())
    LogQueue.objects.all().delete()
    sign_in(page, vault.user, at=f"/consent/requests/{pending.request_id}/")
    unlock(page)
    wait_for_values(page)
    button = page.get_by_role("button", name="Approve", exact=True)

    button.click()
    expect(page.locator("#review-problem")).to_contain_text("The service shows an older state")
    assert not Grant.objects.exists()

    LogQueue.objects.bulk_create(queued)
    sequence_and_sign()
    button.click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert notes_of(vault)["proved"]["sequence"] == 1


def test_a_history_that_the_log_proves_is_remembered_as_proved(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    add_to_history(vault, consent_request)
    sequence_and_sign()
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    kept = notes_of(vault)
    assert kept["proved"] == kept["history"]
    assert kept["proved"]["sequence"] == 1


def test_what_somebody_else_lets_go_on_is_not_renewed_until_the_vault_itself_does(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """Paused by a form while locked; then its row is brought back, and an entry says that it was resumed."""
    grant = remembered(vault, consent_request, approval_of(consent_request, vault.root))
    assert signed_in(vault.user).post(f"/consent/grants/{grant.grant_id}/pause").status_code == 200
    Grant.objects.update(status="active")
    add_to_history(vault, consent_request, "resumed")

    refused(page, sign_in, vault, grant)
    assert notes_of(vault)["paused"] == [consent_request.request_digest]

    page.get_by_role("button", name="Pause", exact=False).first.click()
    page.get_by_role("button", name="Resume").first.click()
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    assert "paused" not in notes_of(vault)


def test_a_stop_with_an_open_vault_is_forgotten_by_it_at_once(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """So that no chain is needed: what somebody who can write to the database hides of it does not matter."""
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    assert records_of(vault, consent_request)
    sign_in(page, vault.user)
    page.goto("/consent/grants/")
    open_vault(page)
    page.goto("/consent/grants/")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")

    page.locator("form[data-stop] button").click()

    expect(page.locator("main")).to_contain_text("It is told nothing about you, either.")
    expect(page.get_by_text("Sharing has stopped.")).to_be_visible()
    assert (Grant.objects.get().status, records_of(vault, consent_request)) == ("revoked", {})


@pytest.mark.parametrize("button", ["Stop everything", "Block", "Disconnect"])
def test_stopping_all_of_an_app_with_an_open_vault_is_forgotten_by_it_too(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, button: str
) -> None:
    remembered(vault, consent_request, approval_of(consent_request, vault.root))
    sign_in(page, vault.user)
    open_vault(page)
    page.goto(f"/consent/apps/{consent_request.app.app_id}/")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")

    page.locator("#block summary", has_text="Block this app").click()
    page.get_by_role("button", name=button, exact=True).click()

    expect(page.locator("main")).to_contain_text("It is told nothing about you, either.")
    assert (Grant.objects.get().status, records_of(vault, consent_request)) == ("revoked", {})


def test_a_question_sends_nothing_and_what_the_app_asks_anew_is_a_sheet_of_its_own(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest
) -> None:
    """Whatever somebody wrote into the history, too: there is no button by which this grant is sealed again."""
    add_to_history(vault, consent_request)
    grant = granted(consent_request, approval_of(consent_request, generate_root()))
    refused(page, sign_in, vault, grant)
    expect(page.get_by_role("dialog")).to_be_hidden()
    question = page.locator(f"#{grant.grant_id} [data-unapproved]")
    expect(question).to_contain_text("can then ask you anew")
    expect(question.get_by_role("button")).to_have_count(0)

    page.locator("form[data-stop] button").click()
    expect(page.get_by_text("Sharing has stopped.")).to_be_visible()
    anew = ConsentRequestFactory(user=vault.user, app=consent_request.app, refresh_policy="continuous")
    page.goto(f"/consent/requests/{anew.request_id}/")
    wait_for_values(page)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    change(page, "Greek")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    assert records_of(vault, anew)[anew.request_digest][2] == 2
    assert Export.objects.filter(grant=grant).count() == 1


# --- approvals that are older than the vault's record -----------------------------------------------------------------


def change(page: Page, value: str) -> None:
    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "favorite_cuisine", value)
    save(page, "food")


@pytest.fixture
def older(vault: Vault, consent_request: ConsentRequest) -> tuple[Grant, Grant]:
    """Two that another program approved with this vault, and the history tells of both."""
    other = ConsentRequestFactory(user=vault.user, refresh_policy="continuous", status="approved")
    made = []
    for request in (consent_request, other):
        add_to_history(vault, request)
        made.append(granted(request, approval_of(request, vault.root)))
    return made[0], made[1]


def ask_about_older(page: Page, sign_in: SignIn, vault: Vault) -> Locator:
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Did you approve these?")
    return dialog


def test_older_approvals_are_asked_about_once_together_and_none_is_ticked(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, older: tuple[Grant, Grant]
) -> None:
    dialog = ask_about_older(page, sign_in, vault)
    boxes = dialog.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    assert [box.is_checked() for box in boxes.all()] == [False, False]
    assert Export.objects.count() == 2  # nothing is sealed by the question

    dialog.get_by_role("checkbox", name=consent_request.app.name).check()
    dialog.get_by_role("button", name="Keep the ticked ones up to date").click()

    expect(dialog).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    assert records_of(vault, consent_request)[consent_request.request_digest][2] == 2
    assert records_of(vault, older[1].request) == {}
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(dialog).to_be_hidden()
    assert [export.revision for export in Export.objects.filter(grant=older[1])] == [1]


def test_who_keeps_none_of_them_is_not_asked_again(
    page: Page, sign_in: SignIn, vault: Vault, older: tuple[Grant, Grant]
) -> None:
    dialog = ask_about_older(page, sign_in, vault)

    dialog.get_by_role("button", name="None of them").click()

    expect(dialog).to_be_hidden()
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(dialog).to_be_hidden()
    assert [export.revision for export in Export.objects.all()] == [1, 1]


@pytest.mark.parametrize("why", ["made with notes", "not in the history", "its end", "another vault", "of more"])
def test_what_is_no_older_approval_of_this_vault_is_not_asked_about(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, why: str
) -> None:
    """A writer of the database adds nothing that this vault did not sign, and opens no list that is closed."""
    if why != "not in the history":
        add_to_history(vault, consent_request)
    if why == "its end":
        add_to_history(vault, consent_request, "revoked")
    if why == "made with notes":
        wrapped = sealed.wrap(replace(vault.key, has_notes=True), "passphrase", PASSPHRASE, vault.user.public_id)
        KeyWrapper.objects.filter(user=vault.user, kind="passphrase").update(jwe=encryption.sealed(wrapped))
        root = thumbprint(vault.root.key.public)
        VaultNotes.objects.create(user=vault.user, revision=1, jwe=sealed_notes(vault, 1, {"root": root}))
    outside = [*FOOD, "identity.basic.full_name"]
    root = generate_root() if why == "another vault" else vault.root
    grant = granted(consent_request, approval_of(consent_request, root, outside if why == "of more" else FOOD))

    refused(page, sign_in, vault, grant)

    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_history_without_the_approval_says_so_in_its_title(
    page: Page, sign_in: SignIn, vault: Vault, consent_request: ConsentRequest, complaints: Complaints
) -> None:
    granted(consent_request, approval_of(consent_request, vault.root))
    sign_in(page, vault.user, at="/consent/history/")

    with complaints.expecting(404):  # nothing was published yet
        page.get_by_role("button", name="Check this history").click()
        expect(page.locator("#verify-result")).to_contain_text(consent_request.app.name)

    expect(page.locator("#verify-result .notice-title")).to_have_text("Somebody reads your data without your approval.")
