"""The photo of an account, from a camera's file to the menu of every page, in a real browser on a phone."""

import io
import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from accounts.models import User
from accounts.name_and_photo.actions import photo_of
from common.pictures import LARGEST
from tests.factories import PersonFactory
from tests.patience import eventually
from tests.system.browser.conftest import PHONE
from tests.system.browser.page_faults import faults_at
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser


def test_a_photo_larger_than_may_be_sent_is_made_small_and_shown_on_every_page(
    site: str, new_profile: NewProfile, sign_in: SignIn, tmp_path: Path
) -> None:
    person: User = PersonFactory()
    taken = tmp_path / "camera.png"
    Image.frombytes("RGB", (1200, 900), os.urandom(1200 * 900 * 3)).save(taken)
    assert taken.stat().st_size > LARGEST
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, person, at="/account/public-profile/")
    page.get_by_role("textbox", name="Name (optional)", exact=True).fill("Zoë")
    page.get_by_label("Photo").set_input_files(taken)
    eventually(lambda: page.locator("#id_photo").evaluate("input => input.files[0].type") == "image/jpeg", "a JPEG")

    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messages")).to_contain_text("Saved.")
    page.goto("/consent/")
    assert page.locator(".menu summary img").evaluate("image => image.naturalWidth") == 256
    assert Image.open(io.BytesIO(photo_of(person) or b"")).size == (256, 192)
    assert faults_at(page, "/account/public-profile/") == []
