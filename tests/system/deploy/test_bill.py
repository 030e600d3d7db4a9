"""The bill of materials names what the locks pin and browsers are given, and nothing else."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.local import bill

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return bill.document()


def of_kind(document: dict[str, Any], kind: str) -> dict[str, str]:
    named = [each for each in document["components"] if each["purl"].startswith(f"pkg:{kind}/")]
    return {each["name"]: each["version"] for each in named}


def test_every_pin_of_the_runtime_lock_is_named_with_its_hashes(document: dict[str, Any]) -> None:
    text = (ROOT / "requirements.lock").read_text()
    pins = re.findall(r"^(\S+?)(?:\[.*\])?==(\S+)", text, re.MULTILINE)

    assert of_kind(document, "pypi") == {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}
    hashes = [told["value"] for each in document["components"] for told in each["properties"]]
    assert sorted(digest for digest in hashes if len(digest) == 64) == sorted(re.findall(r"sha256:(\w{64})", text))


def test_what_is_bundled_is_named_and_what_bundles_it_is_not(document: dict[str, Any]) -> None:
    shipped = json.loads((ROOT / "static/vendor/package.json").read_text())["devDependencies"]
    named = of_kind(document, "npm")

    assert "esbuild" in shipped
    assert {name: named.get(name) for name in shipped if name != "esbuild"} == {
        name: version for name, version in shipped.items() if name != "esbuild"
    }
    assert not any("esbuild" in name for name in named)


def test_everything_has_a_licence_and_a_reference_of_its_own(document: dict[str, Any]) -> None:
    components = document["components"]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert [each["name"] for each in components if not each.get("licenses")] == []
    references = [each["bom-ref"] for each in components]
    assert len(set(references)) == len(references) > 80
    assert document["dependencies"] == [{"ref": "consent-runtime", "dependsOn": references}]


def test_the_same_locks_make_the_same_document(document: dict[str, Any], tmp_path: Path) -> None:
    assert bill.write(tmp_path / "one.json") == len(document["components"])
    bill.write(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text()) == document


def test_a_python_without_the_packages_writes_their_licences_all_the_same(
    document: dict[str, Any], tmp_path: Path
) -> None:
    """As `./run` is started: by whatever Python is on the path."""
    run = "import sys; from deploy.local import commands as its; its.make_environment = id; its.sbom(sys.argv[1:])"
    subprocess.run([sys.executable, "-S", "-c", run, tmp_path / "made.json"], cwd=ROOT, check=True)

    assert json.loads((tmp_path / "made.json").read_text()) == document
