"""A key for which nobody vouches, and what the person's own vault remembers of an app, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from common.clock import database_now
from consent.connector_keys.models import ConnectorKey
from consent.grants.models import Grant
from consent.ledger import audit
from consent.log.sequencing import sequence_and_sign
from developers.models import App
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, Vault, give_vault
from tests.system.browser.people import PASSPHRASE, SignIn, unlock, wait_for_values
from tests.system.browser.test_log import open_vault, title, verify
from tests.vouched import vouch_for

pytestmark = pytest.mark.browser
HOME = {
    ("location", "home"): {"city": "Turku", "country": "Finland"},
    ("lifestyle", "food"): {"favorite_cuisine": "Thai"},
}
SPENDING = {("financial", "signals"): {"spend_bracket": "Middle"}}
CITY = "location.home.city"


BESIDE_THE_SUMMARY = (
    "document.documentElement.scrollHeight - document.getElementById('decision-summary').getBoundingClientRect().height"
)


@pytest.fixture
def vault(db: None) -> Vault:
    return give_vault(PersonFactory(), HOME, passphrase=PASSPHRASE)


def test_confidential_data_needs_a_tick_of_its_own(page: Page, sign_in: SignIn, vault: Vault) -> None:
    consent_request = ConsentRequestFactory(user=vault.user, scope="attr.location.home.*", required_attributes=[CITY])
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    unlock(page)
    expect(page.locator(f"[data-path='{CITY}'] .v")).to_have_text("Turku")
    tick, approve = page.locator("#share-unvouched"), page.get_by_role("button", name="Approve", exact=True)
    expect(tick).not_to_be_checked()
    others = page.evaluate(BESIDE_THE_SUMMARY)

    approve.press("Enter")

    expect(tick).to_be_focused()
    expect(tick).to_be_in_viewport()
    expect(page.locator("#decision-summary")).to_contain_text("Tick that you share it all the same")
    assert page.evaluate(BESIDE_THE_SUMMARY) - others < 10  # nothing appears but these words
    assert not Grant.objects.exists()

    page.keyboard.press("Space")
    approve.press("Enter")

    expect(page.locator(".outcome h1")).to_have_text("You approved this")
    assert Grant.objects.get(request=consent_request).approved_attributes == [CITY]


def test_restricted_data_cannot_be_approved_and_the_sheet_says_why(page: Page, sign_in: SignIn) -> None:
    vault = give_vault(PersonFactory(), SPENDING, passphrase=PASSPHRASE)
    consent_request = ConsentRequestFactory(user=vault.user, scope="attr.financial.signals.*")
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")

    expect(page.locator("#cautions summary")).to_contain_text("nobody vouches for its key")
    expect(page.locator("#decision-summary")).to_contain_text("nobody vouches for the key")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(page.locator(".outcome h1")).to_have_text("You denied this")


def test_the_vault_says_first_time_another_key_and_another_domain(page: Page, sign_in: SignIn, vault: Vault) -> None:
    app = AppFactory(proved_domain="trips.example", domain_proved_at=database_now())
    first = ConsentRequestFactory(user=vault.user, app=app)
    sign_in(page, vault.user, at=f"/consent/requests/{first.request_id}/")
    unlock(page)
    notice = page.locator("#own-memory")
    expect(notice).to_contain_text("this is the first time")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    same = ConsentRequestFactory(user=vault.user, app=app, connector=first.connector)
    page.goto(f"/consent/requests/{same.request_id}/")
    expect(page.locator("[data-path='lifestyle.food.favorite_cuisine'] .v")).to_have_text("Thai")
    expect(notice).to_be_hidden()

    App.objects.update(proved_domain="thief.example")  # by whoever writes the database
    other = ConsentRequestFactory(user=vault.user, app=app)
    page.goto(f"/consent/requests/{other.request_id}/")
    expect(notice).to_contain_text("has not seen this key of this app before")
    expect(notice).to_contain_text("its domain was trips.example")


def test_a_page_that_says_who_vouches_when_nobody_does_any_more_seals_nothing(
    page: Page, sign_in: SignIn, vault: Vault
) -> None:
    consent_request = ConsentRequestFactory(user=vault.user)
    vouch_for(consent_request)
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    expect(page.locator(".sheet-key")).to_contain_text("key registered on")
    ConnectorKey.objects.update(removed_at=database_now())
    unlock(page)

    expect(page.locator("#review-problem")).to_contain_text("not what it says it is")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator("#review-problem")).to_contain_text("not what it says it is")
    assert not Grant.objects.exists()


def test_a_key_that_somebody_vouches_for_since_the_page_was_opened_can_be_sealed_to(
    page: Page, sign_in: SignIn, vault: Vault
) -> None:
    """As one that the app publishes, which is fetched while the passphrase is typed."""
    consent_request = ConsentRequestFactory(user=vault.user)
    sign_in(page, vault.user, at=f"/consent/requests/{consent_request.request_id}/")
    expect(page.locator("main")).to_contain_text("obody vouches")
    vouch_for(consent_request)
    unlock(page)
    wait_for_values(page)
    page.get_by_role("button", name="Approve", exact=True).click()

    expect(page.locator(".outcome h1")).to_have_text("You approved this")


@pytest.mark.parametrize("looked", [False, True])
def test_a_registration_that_was_dated_back_shows_to_who_looked_at_the_log(
    page: Page, sign_in: SignIn, vault: Vault, looked: bool
) -> None:
    """By whoever writes the database: it says two days ago, and came into the log only after the look."""
    chain = audit.person_chain(vault.user.public_id)
    audit.append(chain=chain, kind="denied", actor="person", at=database_now(), facts={"request_digest": "A" * 43})
    sequence_and_sign()
    sign_in(page, vault.user)
    open_vault(page)
    if looked:
        expect(title(verify(page))).to_be_visible()
    consent_request = ConsentRequestFactory(user=vault.user)
    vouch_for(consent_request)
    page.goto(f"/consent/requests/{consent_request.request_id}/")
    expect(page.locator("#cautions")).not_to_contain_text("nobody vouches")
    approve = page.get_by_role("button", name="Approve", exact=True)

    if looked:
        expect(page.locator("#review-problem")).to_be_visible()
        approve.click()
        expect(page.locator("#review-problem")).to_be_visible()
        assert not Grant.objects.exists()
    else:
        expect(page.locator("[data-path='lifestyle.food.favorite_cuisine'] .v")).to_have_text("Thai")
        approve.click()
        expect(page.locator(".outcome h1")).to_have_text("You approved this")
