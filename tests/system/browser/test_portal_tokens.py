"""A developer's first minutes with tokens, as a browser sees them."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from developers.authentication import find_token
from developers.models import DeveloperToken
from tests.factories import MemberFactory, TestAppFactory

pytestmark = pytest.mark.browser


def test_a_token_is_made_copied_and_gone_after_a_reload(page: Page, sign_in: Callable[[Page, User], None]) -> None:
    member = MemberFactory(app=TestAppFactory())
    sign_in(page, member.user)
    page.goto(f"/developers/apps/{member.app.app_id}/tokens/")
    page.get_by_label("Label").fill("backend")
    page.get_by_role("button", name="Make the token").click()

    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    token = page.locator("#new-token").inner_text()
    assert find_token(token) is not None
    assert token not in page.url
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-copy-from='#snippet-curl']").click()
    expect(page.locator("[data-copy-from='#snippet-curl']")).to_contain_text("Copied")
    assert f"export TOKEN={token}" in page.evaluate("navigator.clipboard.readText()")

    page.reload()  # which sends the form once more

    expect(page.get_by_text("This form was sent before")).to_be_visible()
    assert token not in page.content()
    assert DeveloperToken.objects.count() == 1
