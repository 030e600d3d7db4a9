"""What `./run check` says of a catalogue that does not keep up, in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_house import ROOT, files
from tests.fresh import fresh_secrets

needs_gettext = pytest.mark.skipif(not shutil.which("xgettext"), reason="GNU gettext is not installed")
GERMAN, SCRIPTS = (f"locale/de/LC_MESSAGES/{domain}.po" for domain in ("django", "djangojs"))
PROGRAM = "import os; from deploy.local import catalogues; print(catalogues.complaints(os.environ), end='')"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of all that is ours, run by this Python."""
    for path in files():
        kept = tmp_path / path.relative_to(ROOT)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    runs = tmp_path / ".venv/bin/python"
    runs.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    runs.chmod(0o755)
    return tmp_path


def change(tree: Path, name: str, old: str, new: str) -> None:
    path = tree / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def complaints(tree: Path) -> str:
    env = {**os.environ, **fresh_secrets(), "CONSENT_VAR": str(tree / "var")}
    env.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tree, env=env, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


@needs_gettext
def test_every_way_to_fall_behind_is_told_and_nothing_else(tree):
    """One run, since it takes long: that this very tree falls behind in nothing is part of it."""
    change(tree, "templates/home.html", 'translate "We can"', 'translate "Zebras that nobody translated"')
    change(tree, GERMAN, 'msgstr "Wir können nicht"', 'msgstr ""')
    change(tree, GERMAN, 'msgid "Apps ask."', '#, fuzzy\nmsgid "Apps ask."')
    (tree / SCRIPTS).with_suffix(".mo").unlink()
    kept = (tree / GERMAN).read_bytes()
    text = complaints(tree)

    assert re.findall(r"^locale/.*?(?=;|$)", text, re.MULTILINE) == [
        f"{GERMAN}: not translated",
        f"{GERMAN}: only guessed (fuzzy)",
        f"{GERMAN}: no longer in the source",
        f"{GERMAN}: the compiled catalogue beside it is another",
        f"{SCRIPTS}: the compiled catalogue beside it is another",
    ]
    named = re.findall(r'^(?:#~ )?msgid "(.+)"$', text, re.MULTILINE)
    assert named == ["Zebras that nobody translated", "We cannot", "Apps ask.", "We can"]
    assert (tree / GERMAN).read_bytes() == kept
