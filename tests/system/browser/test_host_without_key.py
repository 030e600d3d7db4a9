"""A host without a key asks, the person approves in a browser, and nobody opens what that seals (docs/adr/0064)."""

from typing import Any

import pytest
import requests
from django.conf import settings
from playwright.sync_api import Page, expect

from consent.exports.models import Export
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from consent_bridge.errors import CannotOpen, KeyRefused
from consent_bridge.exports import open_export_where
from consent_bridge.jwe import equal_as_text
from tests.consent.tools.hosts import Host
from tests.factories import PersonFactory, give_vault
from tests.oauth.hosts import OAuthHost
from tests.system.browser.people import PASSPHRASE, SignIn, unlock

pytestmark = pytest.mark.browser

QUESTION = {"scope": "attr.lifestyle.food.*", "purpose": "Plan a week of meals"}


class RemoteHost(Host):
    """Its calls go over the socket: this thread is the browser's, which has an event loop."""

    def post(self, body: bytes, **headers: str) -> Any:
        sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        bearer = {"Authorization": f"Bearer {self.token}"}
        return requests.post(settings.ISSUER + self.path, body, headers={**sent, **bearer}, timeout=60)


def test_what_is_sealed_for_a_host_without_a_key_opens_for_nobody(page: Page, sign_in: SignIn) -> None:
    vault = give_vault(PersonFactory(), {("lifestyle", "food"): {"favorite_cuisine": "Thai"}}, passphrase=PASSPHRASE)
    tokens = OAuthHost.registered().connect(vault.user, resource=f"{settings.ISSUER}/mcp")
    host = RemoteHost(tokens["access_token"])
    named = {"request_id": host.answer("request_consent", QUESTION)["request_id"]}

    sign_in(page, vault.user, at=f"/consent/requests/{named['request_id']}/")
    unlock(page)
    expect(page.locator("[data-path='lifestyle.food.favorite_cuisine'] .v")).to_have_text("Thai")
    notice = page.get_by_text("It has no key: it learns what you decide, and cannot read anything.")
    expect(notice).to_be_visible()
    page.locator("input[value='lifestyle.food.favorite_cuisine']").check()  # nothing is ticked for it beforehand
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".outcome h1")).to_have_text("You approved this")

    made = ConsentRequest.objects.select_related("app").get(**named)
    export = Export.objects.get(grant__request=made)
    ciphertext, public = export.ciphertext or "", made.connector_public_key
    named_by_header = equal_as_text([("kid", "nobody"), ("aud", made.app.app_id), ("request_id", made.request_id)])
    stranger = sealed.generate_connector_key()
    assert host.answer("check_consent_status", named)["status"] == "approved"
    assert host.send("tools/call", {"name": "get_encrypted_export", "arguments": named}).status_code == 403
    # the header holds before the key is tried, also with the point that everybody knows as the private half
    for private in (stranger, {**public, "d": public["x"]}, {**stranger, "x": public["x"]}):
        with pytest.raises((CannotOpen, KeyRefused)):
            open_export_where(ciphertext, private, named_by_header)
