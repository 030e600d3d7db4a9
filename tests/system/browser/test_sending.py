"""The page of sendings and the portal's page of destinations, as a person on a phone or at a desk has them."""

import json

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.agents_proxy.proxy_calls import owning
from tests.factories import ActivationFactory, DestinationFactory, MemberFactory, ProcessingConsentFactory, RunFactory
from tests.factories.agents import sealed_json
from tests.system.browser.page_faults import Themes, faults_at
from tests.system.browser.people import SignIn

pytestmark = pytest.mark.browser

PROFILE = {"full_name": "Zoe Lindqvist", "likes": ["Muji", "tea"], "brand_affinities": ["Patagonia"], "confidence": 0.7}


@pytest.mark.long("in both themes; in short in the light one")
def test_sending_is_sound(page: Page, sign_in: SignIn, themes: Themes) -> None:
    member = MemberFactory()
    run = RunFactory(
        user=member.user, status="completed", started_at=timezone.now(), finished_at=timezone.now(),
        profile=sealed_json(PROFILE), provenance={},
    )  # fmt: skip
    destination = DestinationFactory(app=member.app)
    DestinationFactory(app=member.app, name="Newsletter", url="https://127.0.0.1/mail")
    ProcessingConsentFactory(user=member.user, site=True, app=member.app)
    ActivationFactory(run=run, destination=destination)
    sign_in(page, owning(member.user))

    here = f"/profile/analyses/{run.analysis_id}/send/"
    paths = [
        here, f"{here}?destination={destination.destination_id}", "/profile/consent/given/",
        f"/developers/apps/{member.app.app_id}/destinations/",
    ]  # fmt: skip
    assert [line for path in paths for line in faults_at(page, path, themes)] == []

    page.goto(f"{here}?destination={destination.destination_id}")
    page.get_by_text("As it is sent").click()
    assert json.loads(page.locator("pre").inner_text())["profile"]["likes"] == PROFILE["likes"]
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Send to Trips CRM again").click()
    expect(page.get_by_text("It is being sent")).to_be_visible()
