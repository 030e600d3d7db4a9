"""An operator's accent in a browser: taken in both themes, within the policy, and everything can still be read."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from common.colours import LIGHT_GROUND, contrast, css_variables_of
from tests.factories import ConsentRequestFactory, give_vault
from tests.served_site import running_site
from tests.system.browser.page_faults import faults_at

pytestmark = pytest.mark.browser

ACCENT = "#4b7800"  # one that can only just be read


@pytest.fixture(scope="module")
def running_server(django_db_setup: None) -> Iterator[str]:
    with running_site(SITE_ACCENT=ACCENT) as address:
        yield address


def rgb(colour: str) -> str:
    """As a browser writes it."""
    return f"rgb({', '.join(str(octet) for octet in bytes.fromhex(colour[1:]))})"


def test_pages_in_another_accent_are_sound_in_both_themes(page: Page, sign_in: Callable[[Page, User], None]) -> None:
    assert 4.5 <= contrast(ACCENT, LIGHT_GROUND) < 4.6
    light, dark = css_variables_of(ACCENT)["stay"]
    page.goto("/")
    main = page.get_by_role("main").get_by_role("link", name="Create account")
    page.emulate_media(color_scheme="light")
    expect(main).to_have_css("background-color", rgb(light))
    page.emulate_media(color_scheme="dark")
    expect(main).to_have_css("background-color", rgb(dark))

    found = faults_at(page, "/") + faults_at(page, "/accounts/login/")
    consent_request = ConsentRequestFactory()
    give_vault(consent_request.user)
    sign_in(page, consent_request.user)
    for path in (
        f"/consent/requests/{consent_request.request_id}/",
        "/consent/",
        "/consent/history/",
        "/vault/",
        "/account/security/",
    ):
        found += faults_at(page, path)
    assert found == []
