"""What a vault did not approve is not sent from it, whatever somebody wrote into the database: in a real browser."""

from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import Page, expect

from common.sql.triggers import lifted
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditFacts
from consent.requests.models import ConsentRequest
from consent_bridge.signatures import sha256
from consent_bridge.signing import generate_root, signed_approval
from tests.callers import signed_in
from tests.factories import ConsentRequestFactory, ExportFactory, GrantFactory, Vault
from tests.system.browser.page_faults import Complaints
from tests.system.browser.people import SignIn, enter, save
from tests.system.browser.remembered import records_of, remember
from tests.system.browser.test_log import open_vault, rules_of

pytestmark = pytest.mark.browser
DESSERT = "lifestyle.food.favourite_dessert"  # which the vault does not hold
FOOD = ["lifestyle.food.coffee_or_tea", "lifestyle.food.favorite_cuisine"]


@pytest.fixture
def asked(vault: Vault) -> ConsentRequest:
    made: ConsentRequest = ConsentRequestFactory(user=vault.user, refresh_policy="continuous", status="approved")
    return made


def granted(asked: ConsentRequest, approval: str, attributes: list[str] = FOOD) -> Grant:
    """A live grant with an export that is outdated."""
    grant: Grant = GrantFactory(request=asked, approved_attributes=attributes)
    ExportFactory(grant=grant, sources=[], approval=approval)
    return grant


def approval_of(asked: ConsentRequest, root: Any, attributes: list[str] = FOOD, **changes: Any) -> str:
    """What a vault with this root signed when it approved; `changes` are of the export's members."""
    members = {
        "iss": settings.ISSUER,
        "sub": asked.pairwise_id,
        "aud": asked.app.app_id,
        "request_id": asked.request_id,
        "request_digest": asked.request_digest,
        "revision": 1,
        **changes,
    }
    approval: str = signed_approval(
        root,
        members,
        approved_attributes=attributes,
        access_duration=asked.access_duration,
        ends_at=int(asked.decided_at.timestamp()) + asked.access_duration,
        sealed="any",
    )["approval"]
    return approval


def remembered(vault: Vault, asked: ConsentRequest, approval: str, attributes: list[str] = FOOD) -> Grant:
    """The same, of which the vault's notes have a record."""
    remember(vault, asked, approval)
    return granted(asked, approval, attributes)


def told_in_history(vault: Vault, asked: ConsentRequest, kind: str = "approved") -> None:
    """As the service enters it."""
    facts = {"request_digest": asked.request_digest}
    chain = audit.person_chain(vault.user.public_id)
    audit.append(chain=chain, kind=kind, actor="system", at=asked.decided_at, facts=facts)


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
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest, signed_by: str
) -> None:
    approval = "signed.by.nobody" if signed_by == "nobody" else approval_of(asked, generate_root())

    refused(page, sign_in, vault, granted(asked, approval))


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
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest, changes: dict[str, Any]
) -> None:
    refused(page, sign_in, vault, granted(asked, approval_of(asked, vault.root, **changes)))


def test_what_the_vault_signed_and_remembers_is_renewed(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    """The same rows with the vault's own approval and its record: what refuses above and below is these alone."""
    remembered(vault, asked, approval_of(asked, vault.root))
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    newest = Export.objects.get(revision=2)
    assert records_of(vault, asked) == {
        asked.request_digest: {
            "attributes": [asked.attributes.index(path) for path in sorted(FOOD, key=asked.attributes.index)],
            "ends_at": int(asked.decided_at.timestamp()) + asked.access_duration,
            "revision": 2,
            "approval_sha256": sha256(str(newest.approval)),
        }
    }


def test_an_approval_that_the_vault_signed_once_and_does_not_remember_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    """A genuine one, of a grant that was stopped, which somebody put back."""
    refused(page, sign_in, vault, granted(asked, approval_of(asked, vault.root)))


def test_another_approval_than_the_one_remembered_gets_nothing(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    """Genuine and of the same request, but older than the last revision that the vault sealed, or never sent."""
    remember(vault, asked, approval_of(asked, vault.root))

    refused(page, sign_in, vault, granted(asked, approval_of(asked, vault.root, revision=3)))


def test_more_than_is_remembered_gets_nothing(page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest) -> None:
    refused(page, sign_in, vault, remembered(vault, asked, approval_of(asked, vault.root, FOOD[:1])))


@pytest.mark.parametrize("told", ["stopped by form while locked", "superseded"])
def test_what_the_history_says_ended_gets_nothing_whatever_the_rows_say(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest, told: str
) -> None:
    """Stopped by somebody who did not unlock; then its row, its approval and its request are brought back to life."""
    grant = remembered(vault, asked, approval_of(asked, vault.root))
    if told == "superseded":
        told_in_history(vault, asked, "superseded")
    else:
        assert signed_in(vault.user).post(f"/consent/grants/{grant.grant_id}/revoke").status_code == 200
        with lifted(connection, rules_of("consent_grants")):
            Grant.objects.update(status="active", ended_at=None, ended_by="")

    refused(page, sign_in, vault, grant)

    assert records_of(vault, asked) == {}


def test_an_end_whose_facts_somebody_took_away_stops_all(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    """The entry's hash holds without them, and nothing would tell what it ended."""
    remembered(vault, asked, approval_of(asked, vault.root))
    told_in_history(vault, asked, "revoked")
    with lifted(connection, rules_of("audit_facts")):
        AuditFacts.objects.all().delete()
    sign_in(page, vault.user)
    open_vault(page)
    page.goto("/consent/grants/")

    expect(page.locator("#way-back")).to_contain_text("The service shows an older state than this browser saw")
    assert [export.revision for export in Export.objects.all()] == [1]


def test_a_stop_with_an_open_vault_is_forgotten_by_it_at_once(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    """So that no chain is needed: what somebody who can write to the database hides of it does not matter."""
    remembered(vault, asked, approval_of(asked, vault.root))
    assert records_of(vault, asked)
    sign_in(page, vault.user)
    page.goto("/consent/grants/")
    open_vault(page)
    page.goto("/consent/grants/")
    expect(page.locator("#toasts")).to_contain_text("gets the newer values")

    page.get_by_role("button", name="Stop sharing").click()

    expect(page.locator("main")).to_contain_text("You share nothing")
    expect(page.get_by_text("Sharing has stopped.")).to_be_visible()
    assert (Grant.objects.get().status, records_of(vault, asked)) == ("revoked", {})


def test_what_the_person_approves_then_is_remembered_and_renewed_without_asking(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    told_in_history(vault, asked)
    grant = granted(asked, approval_of(asked, generate_root()))
    refused(page, sign_in, vault, grant)
    page.get_by_role("button", name="Look at what would be sent").click()
    page.get_by_role("dialog").get_by_role("button", name="Approve these updates").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert records_of(vault, asked)[asked.request_digest]["revision"] == 2

    page.goto("/vault/data/lifestyle/")
    enter(page, "food", "favorite_cuisine", "Greek")
    save(page, "food")

    expect(page.locator("#toasts")).to_contain_text("gets the newer values")
    assert [export.revision for export in Export.objects.order_by("revision")] == [1, 2, 3]


def test_the_person_sees_what_would_be_sent_and_sends_nothing(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    told_in_history(vault, asked)
    grant = granted(asked, approval_of(asked, generate_root()), [*FOOD, DESSERT])
    refused(page, sign_in, vault, grant)

    page.get_by_role("button", name="Look at what would be sent").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(asked.purpose)
    expect(dialog).to_contain_text(asked.connector_thumbprint)
    expect(dialog).to_contain_text("Your vault has not seen this key")
    expect(dialog.locator("[data-values]")).to_contain_text("Thai")
    expect(dialog.locator("[data-values]")).to_contain_text("Nothing there now")  # and yet it would be signed for
    dialog.get_by_role("button", name="Send nothing").click()

    expect(dialog).to_be_hidden()
    assert Export.objects.count() == 1


def test_more_than_was_asked_for_cannot_be_approved_at_all(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest
) -> None:
    grant = granted(asked, approval_of(asked, generate_root()), [*FOOD, "identity.basic.full_name"])
    refused(page, sign_in, vault, grant)

    page.get_by_role("button", name="Look at what would be sent").click()

    expect(page.locator("#toasts")).to_contain_text("is not what it says it is")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.parametrize("why", ["nothing", "its end", "restricted"])
def test_what_the_history_does_not_tell_of_or_a_strange_key_would_get_is_not_even_offered(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest, why: str
) -> None:
    if why != "nothing":
        told_in_history(vault, asked)
    if why == "its end":
        told_in_history(vault, asked, "revoked")
    if why == "restricted":
        type(asked.scope_entry).objects.filter(pk=asked.scope_entry_id).update(sensitivity_tier="restricted")
    refused(page, sign_in, vault, granted(asked, approval_of(asked, generate_root())))

    page.get_by_role("button", name="Look at what would be sent").click()

    expect(page.locator("#toasts")).to_contain_text("Your vault did not approve this, so nothing was sent.")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_history_without_the_approval_says_so_in_its_title(
    page: Page, sign_in: SignIn, vault: Vault, asked: ConsentRequest, complaints: Complaints
) -> None:
    granted(asked, approval_of(asked, vault.root))
    sign_in(page, vault.user, at="/consent/history/")

    with complaints.expecting(404):  # nothing was published yet
        page.get_by_role("button", name="Verify my history").click()
        expect(page.locator("#verify-result")).to_contain_text(asked.app.name)

    expect(page.locator("#verify-result .notice-title")).to_have_text("Somebody reads your data without your approval.")
