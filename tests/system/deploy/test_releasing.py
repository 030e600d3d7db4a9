"""What would be published installs in an empty folder or renders, and what does not agree is told."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from deploy.local import releasing
from deploy.local.place import ROOT
from tests.system.bridge_js.node import node, run
from tests.system.deploy.test_chart import CALLERS

PROJECT = tomllib.loads((ROOT / "bridge" / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artefacts; the command that made them says that all is well."""
    folder = tmp_path_factory.mktemp("release") / "made"
    node()
    assert releasing.rehearse(folder) == 0
    return folder


def test_the_client_for_node_installs_in_an_empty_folder(made: Path, tmp_path: Path) -> None:
    [tarball] = made.glob("consent-bridge-*.tgz")
    (tmp_path / "shows.mjs").write_text('import * as all from "consent-bridge"; console.log(typeof all.Client);')

    subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", tarball], cwd=tmp_path, check=True, capture_output=True
    )

    assert run("shows.mjs", cwd=tmp_path) == "function\n"
    assert {folder.name for folder in (tmp_path / "node_modules").glob("[!.]*")} == {"consent-bridge", "jose"}


@pytest.mark.skipif(releasing.helm() is None, reason="there is no helm for this machine in requirements-dev.in")
def test_the_chart_is_packed_whole_in_the_version_of_the_service(made: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    files = {path.relative_to(releasing.CHART).as_posix() for path in releasing.CHART.rglob("*") if path.is_file()}
    packed = made / f"consent-runtime-{version}.tgz"

    def shown(*arguments: object) -> str:
        command = [str(each) for each in (releasing.helm(), *arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    with tarfile.open(packed) as archive:
        assert {name.partition("/")[2] for name in archive.getnames()} == files
    assert f"\nversion: {version}\n" in shown("show", "chart", packed)
    assert shown("template", "consent", packed, *CALLERS) == shown("template", "consent", releasing.CHART, *CALLERS)


def test_an_image_is_built_from_what_its_dockerfile_copies_to_where_it_lies(made: Path, tmp_path: Path) -> None:
    [packed] = made.glob("consent-runtime-*-image.tar.gz")
    copied = re.findall(r"^COPY (?!--from)(.*) (\S+)$", releasing.DOCKERFILE.read_text(), re.MULTILINE)
    with tarfile.open(packed) as context:
        names = context.getnames()

    for sources, target in copied:
        for source in sources.split():
            assert target == "./" or target.rstrip("/") == source
            assert [name for name in names if name == source or name.startswith(f"{source}/")], source
    assert not [name for name in names if name.startswith(("tests/", "bench/", "var/", ".")) or "__pycache__" in name]
    releasing.pack_image_context(tmp_path / "again.tar.gz")
    assert (tmp_path / "again.tar.gz").read_bytes() == packed.read_bytes()


def test_what_is_inside_and_its_digests_lie_beside_it(made: Path) -> None:
    [server, pages] = (json.loads((made / f"{name}.cdx.json").read_text()) for name in ("server", "pages"))

    assert {"django", "psycopg"} <= {part["name"].lower() for part in server["components"]}
    assert "jose" in {part["name"] for part in pages["components"]}
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=made, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
    assert {line.partition(":")[0] for line in checked.stdout.splitlines()} == {
        file.name for file in made.iterdir() if file.name != "SHA256SUMS"
    }


def test_the_source_of_the_python_client_builds_what_the_wheel_holds(made: Path, tmp_path: Path) -> None:
    [sdist], [wheel] = made.glob("consent_bridge-*.tar.gz"), made.glob("*.whl")
    contents = []
    for place, archive in ((tmp_path / "source", sdist), (tmp_path / "wheel", wheel)):
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-compile", "--target", str(place)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, archive], check=True, capture_output=True)
        contents.append({file.name: file.read_bytes() for file in (place / "consent_bridge").iterdir()})

    assert contents[0] == contents[1]


def test_what_does_not_agree_is_told(made: Path) -> None:
    changed = {**PROJECT, "version": "9.0.0", "urls": {"Homepage": "https://other.example"}}

    assert list(releasing.complaints(made, changed)) == [
        "the client for Node is 0.1.0-beta.1, the Python client 9.0.0",
        "consent_bridge.__version__ is not 9.0.0",
        "CHANGELOG.md says nothing of 9.0.0",
        "bridge/README.md does not say mcp-name: example.other/consent-bridge, which the registry looks for",
    ]
