"""A server starts on its release alone: the signed manifest, and the files that it tells of."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config.checks import require_release
from config.static_files import shortened
from consent.release import current, manifest
from consent.release.manifest import VERSION, Release, read_key, signed, verifier_of
from tests.fresh import fresh_secrets, signing_key

ROOT = Path(__file__).resolve().parents[3]
RELEASE = "/.well-known/consent-release.json"
IMPORTING = b'import "./a.0123456789ab.js";'
FILES = {
    "js/a.0123456789ab.js": b"a()", "js/a.js": b"a()", "css/b.css": b"b{}",
    "js/d.0123456789ef.js": IMPORTING, "js/d.js": IMPORTING,
}  # fmt: skip


@pytest.fixture
def var(released: Path, tmp_path: Path) -> Path:
    """The state folder of a deployment with a few static files and their release, to do with what one likes."""
    return Path(shutil.copytree(released, tmp_path / "var"))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, made once by the command."""
    var = tmp_path_factory.mktemp("released")
    static = var / "static"
    for name, content in FILES.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_bytes(content)
    (static / "js/a.js.gz").write_bytes(gzip.compress(FILES["js/a.js"]))
    paths = {"js/a.js": "js/a.0123456789ab.js", "css/b.css": "css/b.css", "js/d.js": "js/d.0123456789ef.js"}
    (static / manifest.COLLECTED).write_text(json.dumps({"paths": paths}))
    (var / "release-key.json").write_text(json.dumps(signing_key()))
    made = manage(var, "make_release", "--commit", "c0ffee", verifier="")
    assert made.returncode == 0, made.stderr
    return var


def verifier(var: Path) -> str:
    return str(verifier_of(read_key(var / "release-key.json")))


def environment(var: Path, **variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, **fresh_secrets(), "CONSENT_VAR": str(var), "DATABASE_WATCH": "false", **variables}


def manage(var: Path, *arguments: str, verifier: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
        env=environment(var, RELEASE_VERIFIER_KEY=verifier, **variables),
    )  # fmt: skip


def started(var: Path, verifier: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A server's process as far as it reads its code and looks at what it serves."""
    return subprocess.run(
        [sys.executable, "-c", "import config.wsgi"], cwd=ROOT, capture_output=True, text=True, check=False,
        env=environment(var, RELEASE_VERIFIER_KEY=verifier, **variables),
    )  # fmt: skip


def test_the_version_is_the_projects_own() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION


def test_a_server_starts_on_its_release(var: Path) -> None:
    begun = started(var, verifier(var))

    assert begun.returncode == 0, begun.stderr
    assert manage(var, "check", "--deploy", verifier=verifier(var)).stderr.count("config.E006") == 0


def one_byte(var: Path) -> None:
    (var / "static/js/a.js").write_bytes(b"a() ")


def only_compressed(var: Path) -> None:
    (var / "static/js/a.js.gz").write_bytes(gzip.compress(b"steal()"))


def gone(var: Path) -> None:
    (var / "static/css/b.css").unlink()


def another_form(var: Path) -> None:
    (var / "static/css/b.css.br").write_bytes(b"steal()")


def no_manifest(var: Path) -> None:
    (var / "release.note").unlink()


def rewritten(var: Path) -> None:
    note = (var / "release.note").read_text()
    (var / "release.note").write_text(note.replace('"version":"0', '"version":"9'))


def no_note(var: Path) -> None:
    (var / "release.note").write_text("[]\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (one_byte, "js/a.js is not the release's"),
        (only_compressed, "js/a.js.gz holds something else"),
        (gone, "css/b.css is missing"),
        (another_form, "css/b.css.br is a form that was not released"),
        (no_manifest, "is missing: no release was made"),
        (rewritten, "did not sign"),
        (no_note, "cannot be read"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_anything_else_is_refused_at_the_start(
    var: Path, change: Callable[[Path], None], message: str, settings: Any
) -> None:
    settings.RELEASE_MANIFEST, settings.STATIC_ROOT = str(var / "release.note"), var / "static"
    settings.RELEASE_VERIFIER_KEY, settings.RELEASE_CHECK = verifier(var), "refuse"
    require_release()
    change(var)

    with pytest.raises(ImproperlyConfigured, match=re.escape(message)):
        require_release()


def test_a_server_refuses_to_start_or_warns_as_it_is_told(var: Path) -> None:
    key, message = verifier(var), "js/a.js is not the release's"
    one_byte(var)

    begun = started(var, key)
    assert begun.returncode != 0
    assert message in begun.stderr
    assert "config.E006" in begun.stderr
    warned = started(var, key, RELEASE_CHECK="warn")
    assert warned.returncode == 0, warned.stderr
    assert message in warned.stderr
    checked = manage(var, "check", "--deploy", verifier=key)
    assert (checked.returncode != 0, message in checked.stderr) == (True, True)


def test_a_release_of_another_key_is_refused(var: Path) -> None:
    (var / "release-key.json").write_text(json.dumps(signing_key()))
    assert "did not sign" in started(var, verifier(var)).stderr
    assert "RELEASE_VERIFIER_KEY is not set" in started(var, "").stderr
    assert "cannot be read" in started(var, "nonsense").stderr


def test_the_same_files_make_the_same_manifest(var: Path) -> None:
    before = (var / "release.note").read_text()
    assert manage(var, "make_release", "--commit", "c0ffee", verifier="").returncode == 0
    assert (var / "release.note").read_text() == before

    release = Release(before)
    assert (release.version, release.commit, set(release.assets)) == (VERSION, "c0ffee", set(FILES))
    assert "unsafe" not in json.dumps(release.members["pages"])


@pytest.mark.parametrize(
    "arguments", [("--key", "/nowhere/key.json"), ("--key", str(ROOT / "pyproject.toml"))], ids=["no file", "no key"]
)
def test_a_release_without_a_key_is_not_made(var: Path, arguments: tuple[str, str]) -> None:
    made = manage(var, "make_release", *arguments, verifier="")
    assert made.returncode == 1
    assert "--key names the release key" in made.stderr


@pytest.fixture
def served(settings: Any, var: Path) -> Any:
    """This process serves that release."""
    settings.RELEASE_MANIFEST = str(var / "release.note")
    yield forget()
    settings.RELEASE_MANIFEST = ""
    forget()


def forget() -> None:
    current.release.cache_clear()
    current.import_map.cache_clear()


def test_the_address_tells_of_the_release(db: None, served: None) -> None:
    body = Client().get(RELEASE).json()

    release = Release(body["note"])
    assert (body["version"], body["commit"], body["manifest_sha256"]) == (VERSION, "c0ffee", release.sha256)
    assert (body["entry"], body["proof"]) == (None, None)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_address_is_only_read(db: None, method: str) -> None:
    answer = Client().generic(method, RELEASE)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


def test_without_a_release_there_is_none_to_tell_of(db: None) -> None:
    assert Client().get(RELEASE).status_code == 404
    assert Client().get(f"{RELEASE}?x=1").status_code == 400


def test_a_page_shows_its_release(db: None, served: None) -> None:
    page = Client().get("/accounts/login/").content.decode()

    release = Release(Path(settings.RELEASE_MANIFEST).read_text())
    assert f"Release {VERSION}" in page
    assert f'<code title="{release.sha256}">{release.sha256[:16]}</code>' in page
    assert re.findall(r"/static/js/\w\.", page.partition('"importmap"')[2].partition("</script>")[0]) == [
        "/static/js/a."
    ]


def test_templates_of_ours_name_scripts_and_styles_by_their_tags_alone() -> None:
    """Each with its hash; a line written by hand would load the file without one."""
    own = [path for path in (ROOT / "templates").rglob("*.html") if "admin" not in path.relative_to(ROOT).parts]
    by_hand = [str(path) for path in own if "<script src" in path.read_text() or 'rel="stylesheet"' in path.read_text()]
    assert len(own) > 100
    assert by_hand == []


def test_what_a_module_imports_is_found_in_what_is_served_as_in_its_source(tmp_path: Path) -> None:
    """Only what is found has a tag of its own in the page; what is not, is loaded a way there and back later."""
    found: dict[str, list[list[str]]] = {"source": [], "served": []}
    for path in sorted(Path("static/js").rglob("*.js")):
        name = path.relative_to("static").as_posix()
        for kind, text in (("source", path.read_text()), ("served", shortened(name, path.read_text(), {}))):
            (tmp_path / kind / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / kind / name).write_text(text)
            found[kind].append(manifest.imports_of(tmp_path / kind, name))

    assert found["served"] == found["source"]
    assert sum(map(len, found["source"])) > 200


def test_a_note_is_signed_over_its_text(var: Path) -> None:
    key = read_key(var / "release-key.json")
    text = Release((var / "release.note").read_text()).text
    assert signed(text, key, verifier_of(key)) == (var / "release.note").read_text()
    shutil.rmtree(var / "static")
    assert manage(var, "make_release", verifier="").returncode == 1
