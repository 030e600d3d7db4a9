"""The log of a webhook endpoint, in a browser: it follows what happens, and stands still where it is told to."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from consent.notices.models import WebhookDelivery
from tests.factories import MemberFactory, WebhookDeliveryFactory, WebhookEndpointFactory
from tests.factories.consent_requests import now
from tests.system.browser.people import SignIn

pytestmark = pytest.mark.browser


def test_the_log_follows_without_losing_the_focus(page: Page, sign_in: SignIn) -> None:
    member = MemberFactory()
    endpoint = WebhookEndpointFactory(app=member.app)
    first = WebhookDeliveryFactory(endpoint=endpoint, next_at=now() + timedelta(hours=1))
    page.clock.install()
    sign_in(page, member.user, at=f"/developers/apps/{member.app.app_id}/webhooks/{endpoint.pk}/")
    row = page.locator(f"tr[data-delivery='{first.pk}']")
    expect(row.locator("[data-field=label]")).to_have_text("Waiting")
    row.get_by_role("button").focus()

    WebhookDelivery.objects.filter(pk=first.pk).update(
        status="delivered", attempt=1, status_code=204, ms=12, tried_at=now(), finished_at=now()
    )
    page.clock.fast_forward(3000)
    expect(row.locator("[data-field=label]")).to_have_text("Delivered")
    expect(row.locator("[data-field=took]")).to_have_text("· 12 ms")
    expect(row.get_by_role("button")).to_be_focused()
    second = WebhookDeliveryFactory(endpoint=endpoint, next_at=now() + timedelta(hours=1))
    page.clock.fast_forward(3000)
    expect(page.locator("tbody tr").first).to_have_attribute("data-delivery", str(second.pk))

    page.get_by_role("checkbox", name="Live", exact=True).uncheck()
    WebhookDeliveryFactory(endpoint=endpoint, next_at=now() + timedelta(hours=1))
    paths: list[str] = []
    page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page.clock.fast_forward(60_000)
    page.evaluate("fetch('/livez').then(() => null)")
    assert paths == ["/livez"]
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("checkbox", name="Live", exact=True).check()
    expect(page.locator("tbody tr")).to_have_count(3)
    page.locator(f"tr[data-delivery='{second.pk}']").get_by_role("button").click()
    expect(page.get_by_text("It will be sent again in a moment")).to_be_visible()
