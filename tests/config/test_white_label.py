"""The operator's logo and accent: which are taken, where they are shown, and that every text in them can be read."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client

from accounts.templatetags.marks import site_logo
from common.colours import DARK_GROUND, DARK_SURFACE, LIGHT_GROUND, READABLE_CONTRAST, WHITE, contrast, css_variables_of
from config import env
from config.checks import check_accent

ROOT = Path(__file__).resolve().parents[2]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
LIGHT, DARK = 0, 1
# what is written on what: of a token, or of a colour
READ_ON = [
    ("stay", LIGHT_GROUND, LIGHT), ("stay", "stay-soft", LIGHT), ("stay-ink", "stay-soft", LIGHT),
    ("on-stay", "stay", LIGHT), ("on-stay", "stay-ink", LIGHT),
    ("stay", DARK_GROUND, DARK), ("stay", "stay-soft", DARK), ("stay-ink", "stay-soft", DARK),
    ("on-stay", "stay", DARK), ("on-stay", "stay-ink", DARK),
]  # fmt: skip


@pytest.fixture
def logo(tmp_path: Path, settings: Any) -> Path:
    path = tmp_path / "river.svg"
    path.write_text(SVG)
    (tmp_path / "secret.txt").write_text("not for anybody")
    settings.SITE_LOGO = path
    return path


def test_contrast_is_that_of_wcag() -> None:
    assert [round(contrast(WHITE, other), 2) for other in ("#ffffff", "#000000", "#767676", "#777777")] == [
        1, 21, 4.54, 4.48,
    ]  # fmt: skip


def test_every_text_in_an_accent_that_is_taken_can_be_read() -> None:
    steps = [f"{octet:02x}" for octet in range(0, 256, 51)]
    accents = ["#" + "".join(parts) for parts in product(steps, repeat=3)]
    taken = [accent for accent in accents if contrast(accent, LIGHT_GROUND) >= READABLE_CONTRAST]

    assert len(taken) > 50
    unread = [
        (accent, text, ground)
        for accent, variables in ((accent, css_variables_of(accent)) for accent in taken)
        for text, ground, theme in READ_ON
        if contrast(variables[text][theme], variables.get(ground, (ground, ground))[theme]) < READABLE_CONTRAST
    ]
    assert unread == []


def test_the_grounds_and_the_tokens_are_those_of_the_styles() -> None:
    styles = dict(re.findall(r"--([\w-]+): (light-dark\([^)]+\)|#\w+);", (ROOT / "static/css/tokens.css").read_text()))

    assert styles["surface-2"] == f"light-dark({LIGHT_GROUND}, {DARK_GROUND})"
    assert styles["surface"] == f"light-dark({WHITE}, {DARK_SURFACE})"
    named = re.search(r"matchAll\(/\\b\(([\w|-]+)\) ", (ROOT / "static/js/shell.js").read_text())
    assert named is not None
    assert set(named[1].split("|")) == set(css_variables_of("#0b5c49")) <= set(styles)


@pytest.mark.parametrize(("accent", "expected"), [("", []), ("#8a2a5b", []), ("#6fd3b3", ["config.E008"])])
def test_an_accent_that_cannot_be_read_is_refused(accent: str, expected: list[str], settings: Any) -> None:
    settings.SITE_ACCENT = accent

    assert [message.id for message in check_accent()] == expected


def test_the_refusal_says_by_how_much(settings: Any) -> None:
    settings.SITE_ACCENT = "#6fd3b3"

    assert check_accent()[0].msg == "SITE_ACCENT is #6fd3b3, whose contrast with the grounds of pages is 1.5:1."


@pytest.mark.parametrize("value", ["green", "#0b5c4", "0b5c49", "#0b5c49;", "#0b5c49 #ffffff", "rgb(1, 2, 3)"])
def test_only_a_colour_in_hexadecimal_is_an_accent(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_ACCENT", value)

    with pytest.raises(ImproperlyConfigured, match="SITE_ACCENT must be a colour such as #0b5c49, not"):
        env.colour("SITE_ACCENT")


@pytest.mark.parametrize("name", ["missing.svg", "logo.gif", "folder.png"])
def test_only_a_file_of_the_two_kinds_is_a_logo(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logo.gif").write_bytes(b"GIF89a")
    (tmp_path / "folder.png").mkdir()
    monkeypatch.setenv("SITE_LOGO", str(tmp_path / name))

    with pytest.raises(ImproperlyConfigured, match=r"SITE_LOGO must be a file that ends in \.svg or \.png"):
        env.picture("SITE_LOGO")


def test_pages_name_the_operators_logo_and_accent(client: Client, db: None, settings: Any, logo: Path) -> None:
    settings.SITE_ACCENT = "#8a2a5b"

    for address in ("/", "/offline/", "/admin/login/"):
        page = client.get(address, follow=True).content.decode()
        assert page.count("/static/site/river.svg") >= 2, address
        assert "/static/img/mark" not in page, address
    head = client.get("/").content.decode().partition("</head>")[0]
    assert '<meta name="accent" content="stay #8a2a5b #' in head.partition("<script")[0]
    assert {icon["src"] for icon in client.get("/manifest.webmanifest").json()["icons"]} == {"/static/site/river.svg"}


def test_without_settings_pages_have_ours(client: Client, db: None) -> None:
    page = client.get("/").content.decode()

    assert '<meta name="accent"' not in page
    assert "/static/img/mark.svg" in page


def test_a_logo_that_was_not_gathered_yet_leaves_ours(settings: Any, logo: Path, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "gathered"
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / "staticfiles.json").write_text(
        '{"version": "1.1", "hash": "", "paths": {"img/mark.svg": "img/mark.0123456789ab.svg"}}'
    )
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.static_files.ModuleStaticFiles"}}

    assert site_logo("img/mark.svg") == "/static/img/mark.0123456789ab.svg"


def test_the_logo_alone_is_gathered_under_the_hash_of_what_is_in_it(settings: Any, logo: Path, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "gathered"
    settings.STATICFILES_FINDERS = ["config.static_files.SiteLogo"]
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.static_files.ModuleStaticFiles"}}

    call_command("collectstatic", interactive=False, verbosity=0)

    gathered = sorted(path.name for path in (tmp_path / "gathered" / "site").iterdir() if path.suffix == ".svg")
    assert len(gathered) == 2
    assert gathered[1] == "river.svg"
    assert re.fullmatch(r"river\.[0-9a-f]{12}\.svg", gathered[0])
    assert (tmp_path / "gathered" / "site" / gathered[0]).read_text() == SVG
