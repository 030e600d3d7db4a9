"""Help and the operator's own words: shown in the reader's language, and their absence said."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config import env

WRITTEN = "# Who we are\n\nRiver Cooperative, [write to us](mailto:help@river.example).\n\n<script>alert(1)</script>\n"


@pytest.fixture
def pages(settings: Any, tmp_path: Path) -> Path:
    settings.SITE_PAGES = tmp_path
    return tmp_path


def read(client: Client, path: str, language: str = "en") -> str:
    answer = client.get(path, headers={"accept-language": language})
    assert answer.status_code == 200, path
    return answer.content.decode()


@pytest.mark.parametrize("name", ["about", "privacy", "terms", "contact"])
def test_page_says_that_the_operator_wrote_nothing(client: Client, db: None, name: str) -> None:
    assert "Whoever runs this site has" in read(client, f"/{name}/")
    assert "Wer diese Seite betreibt, hat" in read(client, f"/{name}/", "de")


def test_operators_words_are_shown_at_once_and_hold_no_markup(client: Client, db: None, pages: Path) -> None:
    (pages / "about.md").write_text(WRITTEN)
    found = read(client, "/about/")
    assert "<h1>Who we are</h1>" in found
    assert '<a href="mailto:help@river.example">write to us</a>' in found
    assert "<script>alert" not in found
    assert "Whoever runs this site has" not in found
    assert "Whoever runs this site has" in read(client, "/terms/")


def test_readers_language_wins_over_the_page_without_one(client: Client, db: None, pages: Path) -> None:
    (pages / "terms.md").write_text("Be kind.")
    (pages / "terms.de.md").write_text("# Regeln\n\nSei nett.")
    assert '<article class="docs-written stack" lang="de"><p>Sei nett.</p>' in read(client, "/terms/", "de")
    english = read(client, "/terms/")
    assert "<h1>Terms of use</h1>" in english
    assert '<article class="docs-written stack" lang="en"><p>Be kind.</p>' in english


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe\x00", b"# "])
def test_odd_file_is_still_a_page(client: Client, db: None, pages: Path, content: bytes) -> None:
    (pages / "privacy.md").write_bytes(content)
    assert "<h1>" in read(client, "/privacy/")


def test_folder_that_is_not_there_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SITE_PAGES", str(tmp_path / "nowhere"))
    with pytest.raises(ImproperlyConfigured, match="SITE_PAGES must be a folder"):
        env.folder("SITE_PAGES")


def test_sites_name_is_the_operators(client: Client, db: None, settings: Any) -> None:
    settings.SITE_NAME = "River & Co"
    assert "· River &amp; Co</title>" in read(client, "/help/")
    assert client.get("/manifest.webmanifest").json()["name"] == "River & Co"


def test_every_page_of_the_operator_is_one_link_away(client: Client, db: None) -> None:
    for page in ("/", "/help/"):
        found = read(client, page)
        assert all(f'href="/{name}/"' in found for name in ("help", "about", "privacy", "terms", "contact")), page
