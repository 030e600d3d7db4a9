"""A new developer applies, staff send the application back, it is corrected and approved, and the live app is there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from accounts.models import User
from developers.applications.mail import send_due_mails
from developers.apps.logos import take_logo
from developers.models import App, DeveloperApplication
from tests.developers.pictures import picture
from tests.factories import ConsentRequestFactory, PersonFactory, StaffFactory, give_vault
from tests.system.browser.page_faults import Complaints, axe_findings

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


def test_an_application_becomes_a_live_app(
    new_profile: Callable[..., BrowserContext],
    sign_in: Callable[[Page, User], None],
    complaints: Complaints,
    tmp_path: Path,
) -> None:
    developer, staff = PersonFactory(), StaffFactory()
    page, desk = new_profile(viewport=PHONE).new_page(), new_profile().new_page()
    sign_in(page, developer)
    sign_in(desk, staff)
    (tmp_path / "logo.png").write_bytes(picture())

    page.goto("/developers/")
    page.get_by_role("link", name="Apply for a live app").click()
    fill_in(page, tmp_path / "logo.png")
    page.get_by_label("Privacy notice").fill("https://lunch.example/privacy")
    page.get_by_label("Why the app needs it").first.fill("")
    with complaints.expecting(400):
        page.get_by_role("button", name="Hand it in").click()
        expect(page.locator(".notice-danger[role=alert]")).to_contain_text("Nothing was handed in yet")
    expect(page.get_by_label("Legal name")).to_have_value("Lunch Finder")
    expect(page.get_by_alt_text("The logo that you sent")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_label("Why the app needs it").first.fill("To know what somebody likes to eat")
    page.get_by_role("button", name="Hand it in").click()
    expect(page.locator("#state-title")).to_have_text("Submitted")
    assert axe_findings(page) == []

    decide(desk, "Send back", "Name the company as the register does.")
    send_due_mails()
    page.reload()
    expect(page.locator("#state-title")).to_have_text("Sent back")
    expect(page.locator("blockquote")).to_have_text("Name the company as the register does.")
    page.get_by_label("Legal name").fill("Lunch Finder GmbH")
    assert axe_findings(page) == []
    page.get_by_role("button", name="Hand it in again").click()
    expect(page.locator("#state-title")).to_have_text("Submitted")

    decide(desk, "Approve: the legal name was checked", "")
    page.reload()
    page.get_by_role("link", name="Open the app").click()
    app, row = App.objects.get(), DeveloperApplication.objects.get()
    expect(page.locator("#app-id")).to_have_text(app.app_id)
    assert (app.mode, app.verified, app.legal_name, app.logo_digest) == (
        "live", True, "Lunch Finder GmbH", row.logo_digest,
    )  # fmt: skip
    page.get_by_role("link", name="Domain").click()
    expect(page.locator("#challenge")).to_have_text(app.domain_challenge)
    assert axe_findings(page) == []


def fill_in(page: Page, logo: Path) -> None:
    for label, words in (
        ("Legal name", "Lunch Finder"),
        ("Website", "https://lunch.example"),
        ("What the app does with the data", "Suggest places to eat."),
        ("Why the app needs it", "To know what somebody likes to eat"),
        ("Jurisdiction", "Germany"),
        ("Where the data is stored", "Frankfurt, Germany"),
        ("How long it is kept", "30 days"),
        ("Who receives the data", "nobody else"),
    ):
        page.get_by_label(label).first.fill(words)
    page.get_by_label("Name", exact=True).fill("Lunch Finder")
    page.get_by_label("Logo").set_input_files(logo)
    page.get_by_label("Kind of data").first.select_option("attr.lifestyle.food.*")


def decide(desk: Page, button: str, note: str) -> None:
    desk.goto("/admin/developers/developerapplication/?status__exact=submitted")
    desk.locator("#result_list tbody th a").click()
    expect(desk.locator("#content")).to_contain_text("To know what somebody likes to eat")
    assert axe_findings(desk) == []
    desk.get_by_role("link", name=button).first.click()  # above what decides, and below it
    assert axe_findings(desk) == []
    desk.get_by_label("Note to the applicant").fill(note)
    desk.get_by_role("button", name=button).click()
    expect(desk.locator(".messagelist .success")).to_have_text("Lunch Finder was decided.")


def test_people_see_logo_and_proved_domain(page: Page, sign_in: Callable[[Page, User], None]) -> None:
    person = PersonFactory()
    give_vault(person)
    asked = ConsentRequestFactory(user=person, app__logo_digest=take_logo(picture()).digest)
    App.objects.update(proved_domain="trips.example", domain_proved_at=asked.created_at)
    sign_in(page, person)
    page.goto(f"/consent/requests/{asked.request_id}/")

    expect(page.locator(".sheet-legal .proved-domain")).to_contain_text("trips.example")
    assert (
        page.locator(".sheet-who img").evaluate("picture => picture.decode().then(() => picture.naturalWidth)") == 256
    )
    page.goto("/consent/")
    expect(page.locator(".row .avatar img")).to_have_count(1)
