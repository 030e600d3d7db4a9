"""What surrounds an analysis, in a real browser: agreements, phone numbers with their codes, linked institutions."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import User
from agents_proxy.financial import refreshes
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.messaging.delivery import Delivery
from agents_proxy.messaging.digests import digest
from agents_proxy.messaging.models import OutboundMessage, PhoneNumber
from agents_proxy.messaging.outbound import record_delivery
from agents_proxy.states import MessageStatus, Purpose
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed
from tests.factories import MessageTemplateFactory, PersonFactory, PhoneNumberFactory
from tests.fakes.aggregator import CLIENT_ID, SECRET, Aggregator, aggregating
from tests.served_site import running_site
from tests.system.browser.conftest import DESKTOP, IN_LONG, PHONE
from tests.system.browser.page_faults import Complaints, Themes, faults_at
from tests.system.browser.people import SignIn

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
    bank.asked.clear()
    bank.bought = []


def test_an_institution_from_the_agreement_to_its_removal(
    page: Page, sign_in: SignIn, bank: Aggregator, complaints: Complaints
) -> None:
    bank.bought = [*coffees(6), *coffees(4, first=10, merchant="Corner Café")]
    sign_in(page, PersonFactory())
    page.goto("/profile/financial/")
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


def test_leaving_the_page_of_institutions_links_nothing(page: Page, sign_in: SignIn) -> None:
    owner = PersonFactory()
    agreed(owner)
    sign_in(page, owner)
    page.goto("/profile/financial/")
    page.get_by_role("button", name="Link an institution").click()
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("link", name="Leave").click()

    expect(page.get_by_text("Nothing was linked.")).to_be_visible()
    assert Item.objects.count() == 0


def test_what_went_wrong_is_said_in_words(page: Page, sign_in: SignIn, bank: Aggregator) -> None:
    owner = PersonFactory()
    item = linked(owner, bank, *coffees(3))
    bank.fails["/transactions/sync"] = ["ITEM_LOGIN_REQUIRED"]
    refreshed(item)
    sign_in(page, owner)
    page.goto("/profile/financial/")

    expect(page.get_by_text("wants you to sign in there again")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("item_login_required")


def test_a_number_is_verified_by_the_code_that_comes_to_it(
    page: Page, sign_in: SignIn, carrier: Agents, complaints: Complaints
) -> None:
    carrier.asked.clear()
    sign_in(page, PersonFactory())
    page.goto("/profile/numbers/")
    page.get_by_label("Phone number").fill("12")
    with complaints.expecting(400):
        page.get_by_role("button", name="Send a code").click()
        expect(page.locator("#id_to_error")).to_contain_text("no phone number that is in use")
    page.get_by_label("Phone number").fill(NUMBER)
    page.get_by_role("button", name="Send a code").click()
    expect(page.get_by_role("heading", name="Enter the code")).to_be_visible()
    [(_, request)] = carrier.asked
    code = re.search(r"[0-9]{6}", request["params"]["message"]["parts"][0]["text"].split('"text"')[1])
    assert code
    with complaints.expecting(400):
        page.get_by_label("Code", exact=True).fill("000000" if code.group() != "000000" else "111111")
        page.get_by_role("button", name="Verify").click()
        expect(page.locator("#id_code_error")).to_contain_text("not the code")
    page.get_by_label("Code", exact=True).fill(code.group())
    page.get_by_role("button", name="Verify").click()

    expect(page.get_by_text("Verified: this number is yours.")).to_be_visible()
    assert PhoneNumber.objects.get().verified_at is not None
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Removed. No message is sent there any more.")).to_be_visible()


@pytest.mark.long("in both themes and widths; in short on a phone, in the light one")
@pytest.mark.parametrize("viewport", [PHONE, pytest.param(DESKTOP, marks=IN_LONG)], ids=["phone", "desk"])
def test_these_pages_are_sound(
    new_profile: Callable[..., BrowserContext],
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
    carrier.says = {"messaging": {"status": "sent", "messageId": "m-1"}}
    sign_in(page, owner)
    page.goto("/profile/messages/")
    page.get_by_role("link", name="table").click()
    page.get_by_label("Phone number").fill(NUMBER)
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


def test_identity_is_asked_for_apart(page: Page, sign_in: SignIn, bank: Aggregator) -> None:
    owner = PersonFactory()
    linked(owner, bank, *coffees(3))
    sign_in(page, owner)
    page.goto("/profile/financial/")
    page.locator("summary", has_text="Identity").click()
    page.locator("article").get_by_label("I agree").check()
    page.get_by_role("button", name="Show who they say I am").click()

    expect(page.get_by_text("Zoe Doe")).to_be_visible()
    page.goto("/profile/financial/")
    expect(page.get_by_text("Zoe Doe")).to_have_count(0)
