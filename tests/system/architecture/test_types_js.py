"""The scripts' types are read strictly, with tools whose lock holds hashes and no address."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config.static_files import shortened
from deploy.local import checking, typescript

ROOT = Path(__file__).resolve().parents[3]
LOCKS = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*package-lock.json"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.split()  # fmt: skip
LOOSE = """
export function first(list) { return list.length; }
/** @param {string[]} list */
export const letters = (list) => list[0].length;
/** @param {Element} element */
export const theme = (element) => element.dataset.theme;
"""


def package(folder: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((ROOT / folder / "package.json").read_text())
    return found


def exported(path: str) -> set[str]:
    """The last name of everything that a file hands on."""
    text = (ROOT / path).read_text()
    lists = ",".join(re.findall(r"\bexport\s*\{([^}]*)\}", text)).split(",")
    named = re.findall(r"export (?:\* as|const) (\w+)", text)
    return {name.split()[-1] for name in lists if name.strip()} | set(named)


@pytest.fixture
def installed() -> None:
    if missing := typescript.missing():
        pytest.skip(missing)


@pytest.mark.parametrize("lock", LOCKS)
def test_node_locks_hold_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text()
    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}

    assert packages
    assert [name for name, entry in packages.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert re.findall(r'"resolved"|\w+://', text) == []


@pytest.mark.parametrize("library", ["jose", "@zxcvbn-ts/core"])
def test_types_are_of_the_version_that_is_bundled(library: str) -> None:
    assert package("tests/node")["devDependencies"][library] == package("static/vendor")["devDependencies"][library]


@pytest.mark.parametrize("library", ["jose", "zxcvbn"])
def test_declarations_name_what_is_bundled(library: str) -> None:
    declared = exported(f"static/vendor/{library}.d.ts")

    assert declared
    assert declared == exported(f"static/vendor/src/{library}.js") == exported(f"static/vendor/{library}.js")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("project", typescript.PROJECTS.values())
def test_loose_types_are_refused(project: str, tmp_path: Path) -> None:
    (tmp_path / "loose.js").write_text(LOOSE)
    settings = {"extends": str(typescript.TOOLS / project), "include": ["loose.js"]}
    settings["compilerOptions"] = {"types": [], "lib": ["es2023", "dom"]}  # what is not installed in this folder
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))

    done = subprocess.run(
        [*typescript.command(project)[:3], str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    codes = re.findall(r"error (TS\d+)", done.stdout)
    assert (done.returncode != 0, sorted(codes)) == (True, ["TS2339", "TS2532", "TS7006"])


def test_a_machine_without_node_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)

    assert typescript.missing() == "Node or npm is not on the path"


def test_tools_of_another_version_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    (tmp_path / "package.json").write_text('{"devDependencies": {"typescript": "7.0.2"}}')
    assert "npm ci" in typescript.missing(tmp_path)

    found = tmp_path / "node_modules" / "typescript" / "package.json"
    found.parent.mkdir(parents=True)
    found.write_text('{"version": "5.0.0"}')
    assert "npm ci" in typescript.missing(tmp_path)

    found.write_text('{"version": "7.0.2"}')
    assert typescript.missing(tmp_path) == ""


@pytest.mark.parametrize(("everything", "code"), [(False, 0), (True, 1)])
def test_without_node_the_check_goes_on_and_only_all_of_it_fails(
    everything: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(typescript, "missing", lambda: "Node is not installed")
    monkeypatch.setattr(checking, "_production", lambda folder: {})
    monkeypatch.setattr(checking, "_run", lambda command, env: "")
    monkeypatch.setattr(checking.catalogues, "complaints", lambda env: "")
    monkeypatch.setattr(checking.contract, "complaints", lambda env: "")

    assert checking.check(everything=everything) == code
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "- scripts          types not checked: Node is not installed"
    assert output[-1] == "10 of 10 checks passed."


def test_what_is_served_without_comments_is_the_same_program(installed: None, tmp_path: Path) -> None:
    """TypeScript writes both anew without comments: what was cut was nothing else, but for the ends of lines."""
    places = [(ROOT / "static", "js/"), (ROOT / "bridge-js" / "src", "formats/")]
    sources = {
        str(path.relative_to(place)): path.read_text()
        for place, within in places
        for path in (place / within).rglob("*.js")
    }
    for name, text in sources.items():
        for kind, form in (("source", text), ("served", shortened(name, text, {}))):
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(form)

    written = {kind: _written(tmp_path / kind, tmp_path / f"{kind}-written") for kind in ("source", "served")}

    assert sorted(written["source"]) == sorted(sources)
    assert [name for name in sources if written["served"][name] != written["source"][name]] == []


# what no text and no regular expression holds; of TypeScript's writing, which puts blanks around a division
_REGEX = r"/(?! )(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+/"
_BLANK = re.compile(rf"""("(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|{_REGEX})|\s+""")


def _written(sources: Path, place: Path) -> dict[str, str]:
    options = {
        "allowJs": True, "noCheck": True, "removeComments": True, "target": "esnext", "module": "esnext", "types": [],
        "moduleResolution": "bundler", "noResolve": True, "rootDir": ".", "outDir": str(place),
    }  # fmt: skip
    (sources / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["js", "formats"]}))
    subprocess.run([*typescript.command("scripts")[:2], "--project", str(sources)], check=True)
    return {str(path.relative_to(place)): _BLANK.sub(r"\1", path.read_text()) for path in place.rglob("*.js")}
