"""From nothing to a first decrypted answer, as a new developer does it, with every interaction counted."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.system.browser.conftest import PHONE
from tests.system.browser.test_trip import PASSWORD

pytestmark = pytest.mark.browser

MOST_INTERACTIONS = 12


class Hands:
    """What a person does on pages: each fill, press and click is one interaction."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def fill(self, place: Locator, text: str) -> None:
        place.fill(text)
        self.done.append(f"fill {place}")

    def press(self, place: Locator, key: str) -> None:
        place.press(key)
        self.done.append(f"press {key} in {place}")

    def click(self, place: Locator) -> None:
        place.click()
        self.done.append(f"click {place}")


def bridge(site: str, token: str, folder: Path, *arguments: str) -> str:
    """What `consent-bridge` prints in a terminal of the developer's."""
    environment = {
        **os.environ, "CONSENT_BASE_URL": f"{site}/api/v1", "CONSENT_DEVELOPER_TOKEN": token, "HOME": str(folder),
    }  # fmt: skip
    command = [sys.executable, "-m", "consent_bridge.cli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_developer_reads_a_first_answer(page: Page, site: str, tmp_path: Path) -> None:
    hands = Hands()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/developers/")
    hands.click(page.get_by_role("main").get_by_role("link", name="Create an account"))
    hands.fill(page.locator("input[name=email]"), "dev@example.org")
    hands.fill(page.locator("input[name=password1]"), PASSWORD)
    hands.press(page.locator("input[name=password1]"), "Enter")
    page.wait_for_url("**/developers/")
    hands.fill(page.get_by_label("Name"), "Lunch Finder")
    hands.press(page.get_by_label("Name"), "Enter")
    hands.click(page.get_by_role("button", name="Make the token"))
    hands.click(page.locator("[data-copy-from='#new-token']"))
    token = copied(page)
    hands.click(page.get_by_role("link", name="Sandbox"))
    hands.click(page.get_by_role("button", name="Make the person"))
    expect(page.locator("#vault-state")).to_have_attribute("data-state", "open")
    hands.click(page.locator("[data-copy-from='#user-id']"))
    user_id = copied(page)

    bridge(site, token, tmp_path, "keygen", "--key", "app.jwk")
    scope, purpose = "attr.lifestyle.food.*", "Suggest restaurants near you"
    output = bridge(site, token, tmp_path, "request", user_id, scope, "--purpose", purpose, "--key", "app.jwk")
    found = re.search(r"req_[A-Za-z0-9]+", output)
    assert found is not None
    hands.click(page.get_by_role("button", name="Approve"))  # the page shows by itself what came
    expect(page.locator("[data-grant]")).to_have_count(1)
    answer: Any = bridge(site, token, tmp_path, "read", found[0], "--key", "app.jwk")

    assert "Thai" in answer
    assert len(hands.done) <= MOST_INTERACTIONS, hands.done


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text.strip()


def test_operations_are_folded_and_a_link_to_one_unfolds_it(page: Page, site: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/api/docs/")
    expect(page.locator("#requestConsent")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000

    page.goto("/api/docs/#requestConsent")

    expect(page.locator("#requestConsent")).to_be_visible()
    expect(page.locator("#requestConsent-title")).to_be_in_viewport()
