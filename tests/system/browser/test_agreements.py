"""The page of agreements: short on a phone, and everything in it reached by keyboard."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from tests.factories import ActivationFactory, AppFactory, DestinationFactory, PersonFactory, ProcessingConsentFactory
from tests.factories import RunFactory as Runs
from tests.system.browser.conftest import PHONE
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser


@pytest.fixture
def person(site: str) -> User:
    """Somebody who agreed to much on this site, to a shop, five analyses and a sending, and to much that is over."""
    person = PersonFactory()
    every = [purpose.value for purpose in Purpose if purpose is not Purpose.ACTIVATION]
    ProcessingConsentFactory(user=person, purposes=every)
    app = AppFactory(name="Trip Planner")
    destination = DestinationFactory(app=app, name="Trips CRM")
    sending = {"purposes": ["activation"], "destinations": [destination.destination_id]}
    ProcessingConsentFactory(user=person, **sending)
    ProcessingConsentFactory(user=person, site=True, app=app, purposes=["profile", "enrichment", "brand_affinity"])
    for _ in range(5):
        once = ProcessingConsentFactory(user=person, reach="run", purposes=["profile", "enrichment", "brand_affinity"])
        run = Runs(user=person, consent=once)
    ActivationFactory(run=run, destination=destination)
    now = timezone.now()
    for days in range(2, 30):
        ProcessingConsentFactory(
            user=person, given_at=now - timedelta(days=days), expires_at=now - timedelta(days=days - 1)
        )
    return person


@pytest.fixture
def phone(new_profile: NewProfile, sign_in: SignIn, person: User) -> Page:
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, person, at="/profile/consent/given/")
    return page


def test_many_agreements_fit_three_screens_of_a_phone(phone: Page, person: User) -> None:
    assert phone.evaluate("document.documentElement.scrollHeight") <= 3 * PHONE["height"]
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    standing = phone.get_by_role("region", name="In force")
    expect(standing.get_by_role("article")).to_have_count(3)
    expect(standing.get_by_text("To Trips CRM")).to_be_visible()
    expect(phone.get_by_role("region", name="For one time only").get_by_role("article")).to_have_count(0)


def test_everything_is_reached_by_keyboard_and_named(phone: Page, person: User) -> None:
    single = phone.get_by_role("region", name="For one time only")

    single.locator("summary").first.focus()
    phone.keyboard.press("Enter")
    expect(single.get_by_role("article")).to_have_count(6)
    expect(single.get_by_text("For one sending, which is under way")).to_be_visible()
    card = single.get_by_role("article", name="Public information").first
    card.get_by_role("link").focus()
    phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    expect(card.get_by_text("Wording")).to_be_visible()
    phone.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Withdraw Your profile")).to_be_focused()
    expect(card.get_by_role("button")).to_have_accessible_description(card.locator("[id^=about-]").inner_text())
    with phone.expect_navigation():
        phone.keyboard.press("Enter")
    expect(phone.get_by_text("Withdrawn. No agent is asked, and nothing is sent")).to_be_visible()
    withdrawn = ProcessingConsent.objects.filter(user=person).exclude(withdrawn_at=None)
    assert withdrawn.count() == 1
