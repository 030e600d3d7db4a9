"""A live app from its application over staff, who send it back once, to the sheet of a person whom it asks.

This process does what the worker does on a timer: it writes the mails, and looks again for proofs of domains.
"""

import re
from pathlib import Path

import pytest
from django.core import mail
from playwright.sync_api import Page, expect

from accounts.models import User
from consent_bridge.client import Client
from consent_bridge.keys import generate_connector_key
from developers.applications.actions import check_application_domain
from developers.apps.domains import FILE
from developers.models import App, DeveloperApplication
from tests.developers.pictures import picture
from tests.developers.websites import website
from tests.factories import PersonFactory, StaffFactory, Vault, give_vault, invitation_of
from tests.outbox import send_mails
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import Complaints, axe_findings
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, unlock, wait_for_values
from tests.system.browser.test_trip import PASSWORD

pytestmark = pytest.mark.browser

DOMAIN = "lunchfinder.example"
FIELDS = {
    "Name": "Lunch Finder",
    "Legal name": "Lunch Finder Oy",
    "Website": f"https://{DOMAIN}",
    "Privacy notice": f"https://{DOMAIN}/privacy",
    "E-mail address": "privacy@lunchfinder.example",
    "What the app does with the data": "Suggests restaurants that fit what you like to eat.",
    "Jurisdiction": "Finland",
    "Where the data is stored": "Data centre in Helsinki, Finland",
    "How long it is kept": "30 days after the last visit",
    "Who receives the data": "Everybody",
    "Browser origins": f"https://app.{DOMAIN}",
    "Return addresses": f"https://app.{DOMAIN}/back",
}
NOTE = "Please name who receives the data."
RECIPIENTS = "Our kitchen in Turku, and nobody else."
FOOD, WHY = "attr.lifestyle.food.*", "To suggest places that serve what you eat"
KEPT = {("lifestyle", "food"): {"diet_preference": "Vegetarian", "favorite_cuisine": "Thai"}}


@pytest.fixture
def staff(site: str) -> User:
    made: User = StaffFactory()
    return made


@pytest.fixture
def vault(site: str) -> Vault:
    return give_vault(PersonFactory(), KEPT, passphrase=PASSPHRASE)


@pytest.fixture
def person_page(new_profile: NewProfile, sign_in: SignIn, vault: Vault) -> Page:
    page = new_profile().new_page()
    sign_in(page, vault.user)
    return page


@pytest.fixture
def staff_page(new_profile: NewProfile, sign_in_by_form: SignIn, staff: User) -> Page:
    """Signed in with password and the code of an authenticator app, as the admin asks it."""
    page = new_profile().new_page()
    sign_in_by_form(page, staff)
    return page


def sign_up(page: Page) -> None:
    page.goto("/developers/")
    page.get_by_role("main").get_by_role("link", name="Create an account").click()
    page.locator("input[name=email]").fill("dev@example.org")
    page.locator("input[name=password1]").fill(PASSWORD)
    page.locator("input[name=password1]").press("Enter")
    page.wait_for_url("**/developers/")


def hand_in(page: Page, logo: Path, complaints: Complaints) -> None:
    """Fill in the whole form, first without a reason, and see what becomes of it."""
    page.get_by_role("link", name="Apply for a live app").click()
    assert axe_findings(page) == []
    for label, text in FIELDS.items():
        page.get_by_label(re.compile(f"^{label}\\b")).fill(text)
    page.get_by_label("Logo").set_input_files(logo)
    page.get_by_label("Kind of data").first.select_option(FOOD)
    with complaints.expecting(400):
        page.get_by_role("button", name="Hand it in").click()
        expect(page.locator(".notice-danger[role=alert]")).to_contain_text("Nothing was handed in yet")
    expect(page.get_by_label("Legal name", exact=True)).to_have_value(FIELDS["Legal name"])
    expect(page.get_by_alt_text("The logo that you sent")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_label("Why the app needs it").first.fill(WHY)
    page.get_by_role("button", name="Hand it in").click()
    expect(page.locator("#state-title")).to_have_text("Submitted")
    expect(page.locator(".pairs").last).to_contain_text(FIELDS["How long it is kept"])
    assert axe_findings(page) == []


def prove_domain(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the file. The server asks public addresses alone and finds nothing; this process asks one on loopback."""
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".messages")).to_contain_text(f"No proof was found for {DOMAIN}")
    with website(monkeypatch) as site:
        site.status, site.body = 200, page.locator("#challenge").inner_text().encode()
        assert check_application_domain(application=DeveloperApplication.objects.get()).file == "proof"
        assert site.paths == [FILE]
    page.reload()
    expect(page.locator("#proof-title + p")).to_contain_text("Proved")


def decide(staff_page: Page, decision: str, note: str = "") -> None:
    """From the queue to the application, its whole page, and the decision with a note."""
    staff_page.goto("/admin/")
    staff_page.get_by_role("link", name="Applications").first.click()
    staff_page.locator("#result_list").get_by_role("link", name=FIELDS["Name"]).click()
    expect(staff_page.locator("#content")).to_contain_text(WHY)
    assert axe_findings(staff_page) == []
    staff_page.get_by_role("link", name=decision).first.click()
    staff_page.get_by_label("Note to the applicant").fill(note)
    assert axe_findings(staff_page) == []
    staff_page.locator("input[type=submit]").click()
    expect(staff_page.locator(".messagelist")).to_contain_text("was decided")


def read_mail(subject: str) -> str:
    """The one mail that the developer got since the last look; its link."""
    send_mails()
    [found] = [message for message in mail.outbox if message.to == ["dev@example.org"]]
    mail.outbox.clear()
    assert subject in found.subject
    link = re.search(r"https?://\S+", str(found.body))
    assert link is not None
    return link[0]


def make_token(page: Page) -> str:
    page.get_by_role("navigation").get_by_role("link", name="Tokens", exact=True).click()
    page.get_by_role("button", name="Make the token").click()
    return page.locator("#new-token").inner_text().strip()


def test_an_application_becomes_an_app_that_asks_a_real_person(
    new_profile: NewProfile, staff_page: Page, person_page: Page, vault: Vault, site: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complaints: Complaints,
) -> None:  # fmt: skip
    page = new_profile(viewport=PHONE).new_page()
    logo = tmp_path / "logo.png"
    logo.write_bytes(picture())
    sign_up(page)
    hand_in(page, logo, complaints)
    prove_domain(page, monkeypatch)

    send_mails()
    assert [message.subject for message in mail.outbox if message.to != ["dev@example.org"]]  # staff hear of it
    mail.outbox.clear()
    decide(staff_page, "Send back", NOTE)

    page.goto(read_mail("Lunch Finder"))
    expect(page.locator(".portal-note")).to_contain_text(NOTE)
    expect(page.get_by_label("Legal name", exact=True)).to_have_value(FIELDS["Legal name"])
    assert axe_findings(page) == []
    page.get_by_label("Who receives the data", exact=True).fill(RECIPIENTS)
    page.get_by_role("button", name="Hand it in again").click()
    expect(page.locator("#state-title")).to_have_text("Submitted")
    decide(staff_page, "Approve: the legal name was checked")

    page.goto(read_mail("Lunch Finder"))  # which leads to the app itself
    client = Client(f"{site}/api/v1", make_token(page))
    app, key = App.objects.get(), generate_connector_key()
    assert (app.is_test, app.verified, app.proved_domain) == (False, True, DOMAIN)
    assert app.logo_digest == DeveloperApplication.objects.get().logo_digest
    assert FOOD in client.discover(invitation_of(vault.user)).scopes
    made_request = client.request_consent(
        invitation_of(vault.user), FOOD, purpose="Suggest restaurants near you", key=key
    )

    person_page.goto(f"/consent/requests/{made_request.request_id}/")
    about = person_page.locator("section[aria-labelledby=about-title]")
    for words in ("Lunch Finder Oy. We checked this.", DOMAIN, RECIPIENTS):
        expect(about).to_contain_text(words)
    for name in ("Jurisdiction", "Where the data is stored", "How long it is kept"):
        expect(about).to_contain_text(FIELDS[name])
    expect(about.get_by_role("link", name="Privacy notice")).to_have_attribute("href", FIELDS["Privacy notice"])
    expect(person_page.locator(".who")).to_contain_text(DOMAIN)
    seen = "picture => picture.decode().then(() => picture.naturalWidth)"
    assert person_page.locator(".who img").evaluate(seen) == 256
    unlock(person_page)
    wait_for_values(person_page)
    assert axe_findings(person_page) == []
    person_page.get_by_label("I gave Lunch Finder a sharing ID of mine.").check()  # the vault never saw it
    person_page.get_by_role("button", name="Approve").click()
    expect(person_page.locator(".outcome h1")).to_have_text("You approved this")

    assert client.read(made_request, key).data == {"lifestyle": {"food": KEPT["lifestyle", "food"]}}
    receipt_id = client.status(made_request.request_id).receipt_id
    assert receipt_id is not None
    claims = client.receipt(receipt_id).claims
    assert (claims["recipients"], claims["jurisdiction"]) == (RECIPIENTS, FIELDS["Jurisdiction"])
    assert claims["storage"] == {
        "location": FIELDS["Where the data is stored"], "retention": FIELDS["How long it is kept"]
    }  # fmt: skip
    person_page.goto(f"/consent/receipts/{receipt_id}/")
    expect(person_page.locator("section[aria-labelledby=says-title]")).to_contain_text(RECIPIENTS)
    person_page.get_by_role("button", name="Verify this receipt").click()
    expect(person_page.locator("#receipt-result")).to_contain_text("Holds:")
