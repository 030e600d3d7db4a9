"""What surrounds an analysis, in a real browser: agreements, phone numbers with their codes, linked institutions."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from agents_proxy.digests import digest
from agents_proxy.financial import refreshes
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.messaging.delivery import Delivery
from agents_proxy.messaging.models import OutboundMessage
from agents_proxy.messaging.outbound import record_delivery
from agents_proxy.states import MessageStatus, Purpose
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed
from tests.factories import MessageTemplateFactory, PersonFactory, PhoneNumberFactory
from tests.fakes.aggregator import CLIENT_ID, SECRET, Aggregator, aggregating
from tests.served_site import running_site
from tests.system.browser.conftest import DESKTOP, IN_LONG, PHONE
from tests.system.browser.page_faults import Complaints, Themes, faults_at
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser
NUMBER = "+49 151 12345678"


@pytest.fixture(scope="module")
def bank() -> Iterator[Aggregator]:
    with aggregating() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def carrier() -> Iterator[Agents]:
    with speaking() as agents:
        yield agents


@pytest.fixture(scope="module")
def running_server(django_db_setup: None, bank: Aggregator, carrier: Agents) -> Iterator[str]:
    """A server that has an aggregator and a messaging agent."""
    aggregator = {
        "AGGREGATOR_BASE_URL": bank.address,
        "AGGREGATOR_CLIENT_ID": CLIENT_ID,
        "AGGREGATOR_SECRET": SECRET,
    }
    with running_site(**aggregator, AGENT_MESSAGING_URL=f"{carrier.address}/messaging") as address:
        yield address


@pytest.fixture(autouse=True)
def _same_bank_here(settings: Any, bank: Aggregator) -> None:
    settings.AGGREGATOR = bank.settings()
    bank.calls.clear()
    bank.bought = []


def test_an_institution_from_the_agreement_to_its_removal(
    page: Page, sign_in: SignIn, bank: Aggregator, complaints: Complaints
) -> None:
    bank.bought = [*coffees(6), *coffees(4, first=10, merchant="Corner Café")]
    sign_in(page, PersonFactory(), at="/profile/financial/")
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Link an institution").click()
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("link", name="First Bank of Tests").click()

    expect(page.get_by_text("Linked. What you bought is being read now.")).to_be_visible()
    expect(page.locator("#reading")).to_contain_text("is being read")
    refreshes.run_refresh(RefreshRun.objects.get().pk)  # as the worker does
    expect(page.get_by_role("heading", name="First Bank of Tests")).to_be_visible()
    expect(page.locator("#reading")).to_have_count(0)
    expect(page.get_by_text("Blue Bottle, Corner Café")).to_be_visible()
    shown = page.locator("article time")
    expect(shown).to_have_attribute("title", re.compile("."))  # its script has been there
    assert not re.search(r"\dT\d", shown.inner_text())  # in words, not as machines write it

    page.get_by_role("link", name="Remove First Bank of Tests").click()
    page.get_by_role("link", name="Keep it").click()
    page.get_by_role("link", name="Remove First Bank of Tests").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("Removed there and here")).to_be_visible()
    expect(page.locator("article")).to_have_count(0)
    assert bank.paths[-1] == "/item/remove"
    assert Item.objects.get().signals is None


@pytest.mark.long("in both themes and widths; in short on a phone, in the light one")
@pytest.mark.parametrize("viewport", [PHONE, pytest.param(DESKTOP, marks=IN_LONG)], ids=["phone", "desk"])
def test_these_pages_are_sound(
    new_profile: NewProfile,
    sign_in: SignIn,
    bank: Aggregator,
    themes: Themes,
    viewport: dict[str, int],
) -> None:
    owner: User = PersonFactory()
    agreed(owner, Purpose.MESSAGING, Purpose.PROFILE)
    item = linked(owner, bank, *coffees(6))
    refreshed(item)
    page = new_profile(viewport=viewport).new_page()
    sign_in(page, owner)

    findings = []
    for path in (
        "consent/given/", "consent/?purposes=enrichment,brand_affinity", "numbers/", "financial/", "messages/",
        "create/", "update/", "look-up/",
        f"financial/{item.item_id}/remove/",
    ):  # fmt: skip
        findings += faults_at(page, f"/profile/{path}", themes)
    assert findings == []


def test_a_message_is_previewed_sent_and_its_state_follows(
    page: Page, sign_in: SignIn, carrier: Agents, site: str
) -> None:
    owner = PersonFactory()
    PhoneNumberFactory(user=owner, digest=digest("number", NUMBER.replace(" ", "")))
    MessageTemplateFactory(name="table", text="{name}, your table is ready.", agreed=True)
    carrier.replies = {"messaging": {"status": "sent", "messageId": "m-1"}}
    sign_in(page, owner, at="/profile/messages/")
    page.get_by_role("link", name="table").click()
    page.get_by_label("Phone number").select_option(NUMBER.replace(" ", ""))
    page.get_by_label("Name").fill("Ana")
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("Ana, your table is ready.")
    page.get_by_role("button", name="Send it").click()

    state = page.locator("[data-message] [data-state]")
    expect(state).to_have_text("Sent")
    message = OutboundMessage.objects.get(consent__user=owner)
    record_delivery(message.pk, Delivery(MessageStatus.DELIVERED))
    expect(state).to_have_text("Delivered")  # without a new visit
    assert faults_at(page, "/profile/messages/", ["light"]) == []
