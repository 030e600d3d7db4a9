"""Logos: what is taken in, what is kept of it, and how it is served."""

import hashlib
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image, PngImagePlugin

from common.problems import InvalidRequest
from developers.apps import logos
from developers.models import Logo
from tests.developers.pictures import bomb, picture
from tests.factories import AppFactory, ApplicationFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_becomes_a_small_png_under_its_own_digest(client: Client, kind: str) -> None:
    logo = logos.take_logo(picture(kind))

    kept = Image.open(io.BytesIO(bytes(logo.png)))
    assert (kept.format, kept.size) == ("PNG", (256, 128))
    assert logo.digest == hashlib.sha256(bytes(logo.png)).hexdigest()
    answer = client.get(f"/logos/{logo.digest}.png")
    assert (answer.status_code, answer.content) == (200, bytes(logo.png))
    assert answer["Content-Type"] == "image/png"
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_same_picture_is_kept_once() -> None:
    assert logos.take_logo(picture()).pk == logos.take_logo(picture()).pk


def test_nothing_but_pixels_is_kept() -> None:
    pnginfo = PngImagePlugin.PngInfo()
    pnginfo.add_text("Comment", "made at Example Street 7")
    exif = Image.Exif()
    exif[0x010E] = "Example Street 7"

    for data in (picture("PNG", pnginfo=pnginfo), picture("JPEG", exif=exif), picture("WEBP", exif=exif.tobytes())):
        assert b"Example Street" in data
        assert b"Example Street" not in bytes(logos.take_logo(data).png)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "PNG, JPEG or WebP"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "PNG, JPEG or WebP"),
        (picture("GIF"), "PNG, JPEG or WebP"),
        (picture("PNG")[:100], "PNG, JPEG or WebP"),
        (bomb(), "pixels"),
        (bomb(5000), "pixels"),
        (b"\x89PNG\r\n\x1a\n" + b"a" * 600 * 1024, "512 KiB"),
    ],
)
def test_what_is_no_fit_picture_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        logos.take_logo(data)
    assert not Logo.objects.exists()


def test_an_animation_is_its_first_picture() -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    written = io.BytesIO()
    frames[0].save(written, "WEBP", save_all=True, append_images=frames[1:], lossless=True)

    kept = Image.open(io.BytesIO(bytes(logos.take_logo(written.getvalue()).png)))
    assert getattr(kept, "n_frames", 1) == 1


def test_pictures_that_nothing_shows_are_forgotten_after_a_day() -> None:
    shown, applied, unused, new = (logos.take_logo(picture(size=(n, n))) for n in (10, 20, 30, 40))
    AppFactory(logo_digest=shown.digest)
    ApplicationFactory(logo_digest=applied.digest)
    Logo.objects.exclude(pk=new.pk).update(created_at=timezone.now() - timedelta(days=2))

    assert logos.forget_unused_logos() == 1
    assert set(Logo.objects.all()) == {shown, applied, new}
    assert not Logo.objects.filter(pk=unused.pk).exists()
