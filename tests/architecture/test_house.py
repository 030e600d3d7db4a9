"""The house's own rules, over every file of the tree."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

pytestmark = pytest.mark.own_process("git says which files there are")
ROOT = Path(__file__).resolve().parents[2]
VENDORED = ("static/vendor/", "bridge/build/")
MACHINE = re.compile(r"(?<![\w.{}/<>-])/(?:home|Users|work|root|tmp)/[\w.-]+")
ADDRESS_OF_A_REGISTRY = re.compile(r"--(?:index-url|extra-index-url|find-links|trusted-host)|@ https?://")


def files(*endings: str) -> list[Path]:
    """The files that git would take, ours alone."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    ours = [ROOT / name for name in listed if not name.startswith(VENDORED) and (ROOT / name).is_file()]
    return [path for path in ours if not endings or path.suffix in endings]


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_nothing_names_a_machine() -> None:
    places = {name(path): MACHINE.findall(text_of(path)) for path in files() if path != Path(__file__)}

    assert {path: found for path, found in places.items() if found} == {}


def test_lock_files_hold_hashes_and_no_address() -> None:
    for lock in (
        "requirements.lock",
        "requirements-tracing.lock",
        "requirements-dev.lock",
        "bench/peer_servers/requirements.lock",
    ):
        text = (ROOT / lock).read_text()
        pinned = re.findall(r"^[a-z0-9._-]+==", text, re.MULTILINE | re.IGNORECASE)
        unhashed = re.findall(r"^[a-z0-9._-]+==[^\\\n]+$", text, re.MULTILINE | re.IGNORECASE)
        assert pinned
        assert unhashed == []
        assert ADDRESS_OF_A_REGISTRY.findall(text) == []


def test_each_fault_can_be_made() -> None:
    check = ["git", "apply", "--check", "-p0", "--unidiff-zero"]
    patches = (ROOT / "tests" / "faults").glob("*.patch")

    assert [path.stem for path in sorted(patches) if subprocess.run([*check, str(path)], cwd=ROOT).returncode] == []


def test_templates_hold_no_inline_script_or_style() -> None:
    inline = re.compile(
        r"<script(?![^>]*\bsrc=)(?![^>]*application/json)|<style|\sstyle=|\son[a-z]+=|[\"']\s*javascript:", re.I
    )
    found = {
        name(path): inline.findall(text_of(path)) for path in files(".html") if path.is_relative_to(ROOT / "templates")
    }

    assert {path: hits for path, hits in found.items() if hits} == {}


def test_passwords_are_kept_with_argon2() -> None:
    from config import settings as deployed

    assert deployed.PASSWORD_HASHERS == ["accounts.sign_in.password_hash.CappedArgon2"]
    assert settings.PASSWORD_HASHERS == ["tests.password_hash.QuickArgon2"]
