"""Who can read what, on a phone and on a desk: paused in two taps, resumed by the vault, list and page side by side."""

import pytest
from playwright.sync_api import Page, expect

from consent.grants.models import Grant
from pkm.registry.starter_domains import SEGMENTS
from tests.factories import AppFactory, ExportFactory, GrantFactory, PersonFactory, ReadFactory, give_vault
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import axe_findings
from tests.system.browser.people import PASSPHRASE, NewProfile, SignIn, Taps, unlock

pytestmark = pytest.mark.browser


def test_everything_is_paused_in_two_taps_and_resumed_by_the_vault(new_profile: NewProfile, sign_in: SignIn) -> None:
    person = PersonFactory()
    give_vault(person, passphrase=PASSPHRASE)
    for _ in range(2):
        ReadFactory(export=ExportFactory(grant=GrantFactory(request__user=person, reads=1)))
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, person)
    expect(page.locator("h1")).to_have_text("2 apps can read 3 things of yours")
    assert axe_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("link", name="Pause everything").click()
    page.get_by_role("button", name="Pause everything").click()

    expect(page.locator(".messages")).to_contain_text("Everything is paused: 2 approvals.")
    assert set(Grant.objects.values_list("status", flat=True)) == {"paused"}
    page.get_by_role("link", name="Resume everything").click()
    resume = page.get_by_role("button", name="Resume everything")
    expect(resume).to_be_enabled()
    assert axe_findings(page) == []
    resume.click()
    expect(page.locator("#unlock-passphrase")).to_be_focused()
    unlock(page)
    resume.click()
    expect(page.locator(".messages")).to_contain_text("Resumed.")
    expect(page.locator(".messages .notice")).to_have_count(1)
    assert set(Grant.objects.values_list("status", flat=True)) == {"active"}


def test_an_app_with_ten_grants_is_stopped_in_two_taps(new_profile: NewProfile, sign_in: SignIn) -> None:
    person, app = PersonFactory(), AppFactory(name="Plate & Table")
    for segment in SEGMENTS[:10]:
        GrantFactory(request__user=person, request__app=app, request__scope=f"attr.{segment.path}.*")
    other = GrantFactory(request__user=person)
    page, tap = new_profile(viewport=PHONE).new_page(), Taps()
    sign_in(page, person, at="/consent/apps/")

    tap(page.get_by_role("link", name="Plate & Table"))
    tap(page.get_by_role("button", name="Stop everything"))

    expect(page.locator(".messages")).to_contain_text("Sharing has stopped")
    assert len(tap) == 2, tap
    assert list(Grant.objects.filter(app=app).values_list("status", flat=True)) == ["revoked"] * 10
    assert Grant.objects.get(pk=other.pk).status == "active"


def test_list_and_page_stand_side_by_side_on_a_desk_and_alone_on_a_phone(page: Page, sign_in: SignIn) -> None:
    person = PersonFactory()
    first, second = (
        GrantFactory(request__user=person, request__app=AppFactory(name=name)) for name in ("Plate & Table", "CityBike")
    )
    sign_in(page, person, at="/consent/apps/")
    shown = page.locator(".ld > .d")
    expect(shown.locator(".page-name")).to_have_text("CityBike")
    assert axe_findings(page) == []

    page.get_by_role("link", name="Plate & Table").click()

    expect(shown.locator("h1")).to_have_text("Plate & Table")
    expect(page.locator(".ld > .l .list > li[aria-current]")).to_contain_text("Plate & Table")
    expect(page.locator(".ld > .l")).to_be_visible()
    assert axe_findings(page) == []
    page.set_viewport_size(PHONE)
    expect(page.locator(".ld > .l")).to_be_hidden()
    assert axe_findings(page) == []
    shown.get_by_role("link", name="Apps").click()
    expect(shown).to_be_hidden()
    expect(page.locator(".ld > .l")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_role("link", name="CityBike").click()
    page.get_by_role("button", name="Stop everything").click()
    expect(page.locator(".messages")).to_contain_text("Sharing has stopped")
    assert [Grant.objects.get(pk=one.pk).status for one in (first, second)] == ["active", "revoked"]
