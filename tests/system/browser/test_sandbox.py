"""The sandbox in the portal: a developer's browser makes a person, and decides for them."""

import re

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from accounts.models import User
from consent.approvals.models import ApprovalKey
from consent.grants.models import Grant
from consent_bridge.client import Client
from consent_bridge.sealed import generate_connector_key
from developers.models import App
from pkm.segments.models import Blob
from pkm.vault.models import VaultKey
from tests.factories import MemberFactory, TestAppFactory, TokenFactory
from tests.system.browser.page_faults import THEMES, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser

FOOD = "lifestyle.food"


@pytest.fixture
def app(site: str) -> App:
    made: App = TestAppFactory(name="Lunch Finder")
    MemberFactory(app=made)
    return made


@pytest.fixture
def client(app: App, site: str) -> Client:
    return Client(f"{site}/api/v1", TokenFactory(app=app).secret)


def developer(app: App) -> User:
    found: User = app.members.get().user
    return found


def make_person(page: Page, app: App, label: str = "Says yes") -> str:
    """Through the page; their sharing ID, once the vault is filled."""
    page.goto(f"/developers/apps/{app.app_id}/sandbox/")
    page.get_by_label("Name").fill(label)
    page.get_by_role("button", name="Make the person").click()
    expect(page.locator("#vault-state")).to_have_attribute("data-state", "open")
    return page.locator("#user-id").inner_text()


def test_the_developer_plays_a_person_from_an_empty_vault_to_the_end_of_sharing(
    page: Page, sign_in: SignIn, app: App, client: Client
) -> None:
    sign_in(page, developer(app))
    user_id = make_person(page, app)
    assert re.fullmatch(r"([A-Z2-7]{4}-){7}[A-Z2-7]{4}", page.locator("#recovery-text").inner_text())
    assert Blob.objects.filter(user__public_id=user_id).count() == 9

    key = generate_connector_key()
    made_request = client.request_consent(user_id, f"attr.{FOOD}.*", purpose="Suggest restaurants near you", key=key)
    page.locator(f"input[value='{FOOD}.coffee_or_tea']").uncheck()  # the page shows by itself what came
    page.get_by_label("For how long").select_option(label="1 hour")
    page.get_by_role("button", name="Approve").click()

    shared = page.locator("[data-grant]")
    expect(shared).to_have_count(1)
    read = client.read(made_request, key)
    assert read.data == {"lifestyle": {"food": {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai"}}}
    grant = Grant.objects.get()
    assert (grant.expires_at - grant.starts_at).total_seconds() == 3600

    events = page.locator("#told tbody tr td:nth-child(2)")
    for number, (button, status) in enumerate((("Pause", "paused"), ("Resume", "active"), ("Stop sharing", "revoked"))):
        shared.get_by_role("button", name=button).click()
        expect(events).to_have_count(number + 2)
        grant.refresh_from_db()
        assert grant.status == status, button
    expect(shared).to_have_count(0)
    assert events.all_inner_texts() == ["consent.revoked", "consent.resumed", "consent.paused", "consent.approved"]
    expect(page.locator("#recovery")).to_be_visible()  # nothing loaded the page anew


def test_a_person_without_a_root_gets_one_and_what_is_paused_goes_on(
    page: Page, sign_in: SignIn, app: App, client: Client
) -> None:
    """The client that made the person made no root: the page does before it approves, and signs over a fresh nonce."""
    sign_in(page, developer(app))
    user_id = make_person(page, app)
    VaultKey.objects.update(signing_public_key=None, signing_jwe="")
    key = generate_connector_key()
    made_request = client.request_consent(user_id, f"attr.{FOOD}.*", purpose="Suggest restaurants near you", key=key)
    expect(page.locator("[data-request]")).to_have_count(1)
    with page.expect_response(f"**/sandbox/people/{user_id}/signing-key") as root:
        page.get_by_role("button", name="Approve").click()
    assert root.value.status == 200
    shared = page.locator("[data-grant]")
    shared.get_by_role("button", name="Pause").click()
    with page.expect_response("**/nonce") as nonce:
        shared.get_by_role("button", name="Resume").click()

    expect(page.locator("#told tbody tr")).to_have_count(3)
    assert nonce.value.status == 200
    assert Grant.objects.get().status == "active"
    assert client.read(made_request, key).data["lifestyle"]["food"]["favorite_cuisine"] == "Thai"
    pin = client.pins.find(settings.ISSUER, user_id)
    assert pin is not None
    assert pin.key == ApprovalKey.objects.get().public_key


def test_what_would_end_within_a_day_ends_now_and_what_is_denied_stays_denied(
    page: Page, sign_in: SignIn, app: App, client: Client
) -> None:
    sign_in(page, developer(app))
    user_id = make_person(page, app)
    scopes = (f"attr.{FOOD}.*", "attr.identity.basic.*")
    first, second = (
        client.request_consent(user_id, scope, purpose="Suggest restaurants near you", key=generate_connector_key())
        for scope in scopes
    )
    page.reload()
    page.locator(f"[data-request='{first.request_id}'] [data-deny]").click()
    expect(page.locator("[data-request]")).to_have_count(1)
    page.get_by_label("Let expire what ends within").select_option(label="30 days")
    page.get_by_role("button", name="Let it expire").click()
    expect(page.locator("[data-request]")).to_have_count(0)

    assert [client.status(made_request.request_id).status for made_request in (first, second)] == ["denied", "expired"]


def test_another_browser_plays_the_person_with_the_recovery_code_alone(
    page: Page, new_profile: NewProfile, sign_in: SignIn, app: App
) -> None:
    sign_in(page, developer(app))
    make_person(page, app)
    code = page.locator("#recovery-text").inner_text()
    other = new_profile().new_page()
    sign_in(other, developer(app), at=page.url)
    expect(other.locator("#vault-state")).to_have_text("Its key is not in this browser.")
    other.locator("#recovery-code").fill("AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA")
    other.get_by_role("button", name="Open the vault").click()
    expect(other.locator("#problem")).to_be_focused()

    other.locator("#recovery-code").fill(code)
    other.get_by_role("button", name="Open the vault").click()

    expect(other.locator("#vault-state")).to_have_attribute("data-state", "open")
    expect(other.locator("#values-list")).to_contain_text(f"{FOOD}.favorite_cuisine")


def test_a_person_who_is_deleted_is_gone_with_their_key(page: Page, sign_in: SignIn, app: App) -> None:
    sign_in(page, developer(app))
    make_person(page, app)
    page.locator("summary", has_text="Delete …").click()
    page.get_by_role("button", name="Delete this person").click()

    expect(page.locator(".messages")).to_contain_text("The sandbox person is gone")
    assert not app.sandbox_people.exists()
    count_keys = """() => new Promise((resolve) => {
      const request = indexedDB.open("consent-sandbox", 1);
      request.onsuccess = () => {
        const count = request.result.transaction("keys").objectStore("keys").count();
        count.onsuccess = () => resolve(count.result);
      };
    })"""
    assert page.evaluate(count_keys) == 0


def test_the_pages_of_the_sandbox_are_sound(page: Page, sign_in: SignIn, app: App, client: Client) -> None:
    sign_in(page, developer(app))
    user_id = make_person(page, app)
    client.request_consent(
        user_id, f"attr.{FOOD}.*", purpose="Suggest restaurants near you", key=generate_connector_key()
    )
    page.reload()
    expect(page.locator("#vault-state")).to_have_attribute("data-state", "open")
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert axe_findings_in(THEMES, page) == []
    page.goto(f"/developers/apps/{app.app_id}/sandbox/")
    assert axe_findings_in(THEMES, page) == []
