"""Every page of the consent app and the vault with its values open, from 320 pixels to a desk."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from tests.factories import (
    ConsentRequestFactory,
    DiscoveryFactory,
    ExportFactory,
    GrantFactory,
    PersonFactory,
    ReadFactory,
    give_vault,
)
from tests.factories.consent_requests import now
from tests.system.browser.conftest import DESKTOP, IN_LONG, PHONE
from tests.system.browser.page_faults import Themes, axe_findings_in, faults_at
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, unlock

pytestmark = pytest.mark.browser

NARROW = {"width": 320, "height": 640}
VALUES = {
    ("lifestyle", "food"): {"favorite_cuisine": "Thai", "favourite_dessert": "Mango", "coffee_or_tea": "tea"},
    ("location", "home"): {"city": "Turku"},
    ("intents", "now"): {"needs": ["a lamp"], "intent_24h": {"category": "Travel", "confidence": 0.5}},
    ("financial", "signals"): {"spend_bracket": "Middle"},
}
PAGES = [
    "/consent/", "/consent/inbox/", "/consent/apps/", "/consent/pause/", "/consent/history/", "/consent/verify/",
    "/vault/", "/vault/data/lifestyle/", "/vault/data/intents/",
    "/vault/transfer/", "/vault/setup/first/", "/vault/setup/preview/", "/account/security/",
]  # fmt: skip


def someone_with_everything() -> tuple[object, list[str]]:
    """A person whom apps asked, read and looked at in every way; the addresses of their requests, receipts and apps."""
    user = PersonFactory()
    give_vault(user, VALUES, passphrase=PASSPHRASE)
    grant = GrantFactory(request__user=user, request__purpose="Suggest lunch places", status="paused")
    ReadFactory(export=ExportFactory(grant=grant))
    DiscoveryFactory(user=user, app=grant.app, count=3)
    GrantFactory(request__user=user, status="revoked")
    requests = [
        ConsentRequestFactory(user=user, app=grant.app, binding_message="Blue heron 42", max_reads=3),
        ConsentRequestFactory(user=user, app__verified=False, scope="attr.location.home.*"),
        ConsentRequestFactory(user=user, scope="attr.financial.signals.*", refresh_policy="continuous"),
        ConsentRequestFactory(user=user, created_at=now() - timedelta(days=2)),
        *(ConsentRequestFactory(user=user, status=status) for status in ("denied", "cancelled")),
        grant.request,
    ]
    ExportFactory(grant__request__user=user, grant__request__refresh_policy="continuous")
    blocked = ConsentRequestFactory(user=user)
    for consent_request in (blocked, ConsentRequestFactory(user=user)):
        decision_actions.deny(request_id=consent_request.request_id, by=user)
    blocked_apps.block_app(app_id=blocked.app.app_id, by=user, stop=False)
    return user, [
        *(f"/consent/requests/{request.request_id}/" for request in requests),
        *(f"/consent/receipts/{receipt.receipt_id}/" for receipt in blocked.receipts.all()),
        *(f"/consent/apps/{app.app_id}/" for app in (blocked.app, grant.app)),
    ]


@pytest.mark.long("in both themes and three widths; in short on the narrowest, in the light one")
@pytest.mark.parametrize(
    "viewport",
    [NARROW, pytest.param(PHONE, marks=IN_LONG), pytest.param(DESKTOP, marks=IN_LONG)],
    ids=["narrow", "phone", "desk"],
)
def test_pages_with_open_values_are_sound(
    new_profile: NewProfile, sign_in: SignIn, themes: Themes, viewport: dict[str, int]
) -> None:
    user, requests = someone_with_everything()
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, user, at="/vault/data/lifestyle/")
    unlock(page)
    expect(page.locator("#f-food-favorite_cuisine")).to_have_value("Thai")

    assert [line for path in [*PAGES, *requests] for line in faults_at(page, path, themes)] == []


@pytest.mark.long("in both themes and widths; in short on a phone, in the light one")
@pytest.mark.parametrize("viewport", [PHONE, pytest.param(DESKTOP, marks=IN_LONG)], ids=["phone", "desk"])
def test_first_minutes_and_dialogs_are_sound(
    new_profile: NewProfile, sign_in: SignIn, themes: Themes, viewport: dict[str, int]
) -> None:
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, PersonFactory())
    paths = ("/consent/", "/consent/apps/", "/vault/setup/")
    findings = [line for path in paths for line in faults_at(page, path, themes)]
    page.locator("#new-passphrase").fill(PASSPHRASE)
    page.locator("#passphrase-form button[type=submit]").click()
    expect(page.locator("#recovery-code code")).to_have_count(8)
    assert [*findings, *axe_findings_in(themes, page)] == []


def test_the_example_of_the_home_page_can_be_tried(page: Page, themes: Themes) -> None:
    page.goto("/")

    page.get_by_label("Coffee or tea").uncheck()
    page.get_by_role("button", name="Approve").click()

    expect(page.locator("#example-approved")).to_be_visible()
    assert axe_findings_in(themes, page) == []
    page.locator("#example-approved").get_by_role("button", name="Close").click()
    expect(page.locator("#example-approved")).to_be_hidden()
    expect(page.locator(".example .vals input:checked")).to_have_count(2)
