"""`./run sbom`: what is shipped, as a CycloneDX 1.6 document, out of the lock files alone."""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from deploy.local.place import ROOT, fail, say

RUNTIME, VENDOR = "requirements.lock", "static/vendor/package-lock.json"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_NOT_SHIPPED = re.compile(r"(?:^|/)(?:@esbuild/|esbuild$)")  # makes the bundles, and is in none


def document() -> dict[str, Any]:
    """The bill of materials: what the server installs, and what browsers are given in bundles; no time, no random id.

    The same lock files give the same document. Licences of Python packages are as the installed package says.
    """
    components = sorted([*_python(), *_bundled()], key=lambda each: each["purl"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "consent-runtime",
                "name": "consent-runtime",
                "version": _version(),
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [{"ref": "consent-runtime", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def write(path: Path) -> int:
    """Write the document there; how many components it names."""
    made = document()
    path.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    return len(made["components"])


def _python() -> Iterator[dict[str, Any]]:
    text = (ROOT / RUNTIME).read_text()
    starts = list(PINNED.finditer(text))
    if not starts:
        fail(f"{RUNTIME} pins nothing.")
    ends = [*(match.start() for match in starts[1:]), len(text)]
    for match, end in zip(starts, ends, strict=True):
        hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", text[match.start() : end])
        name = re.sub(r"[-_.]+", "-", match[1]).lower()
        found = _component(name, match[2], f"pkg:pypi/{name}@{match[2]}", _licence_of(match[1]))
        # one for each file that may be installed, of which a machine takes one
        found["properties"] = [{"name": "lock:sha256", "value": digest} for digest in hashes]
        yield found


def _bundled() -> Iterator[dict[str, Any]]:
    packages: dict[str, dict[str, Any]] = json.loads((ROOT / VENDOR).read_text())["packages"]
    for place, told in packages.items():
        name = place.rpartition("node_modules/")[2]
        if name and not _NOT_SHIPPED.search(name):
            purl = f"pkg:npm/{name.replace('@', '%40')}@{told['version']}"
            found = _component(name, told["version"], purl, {"expression": told["license"]})
            found["properties"] = [{"name": "lock:integrity", "value": told["integrity"]}]
            yield found


def _component(name: str, version: str, purl: str, licence: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**found, "licenses": [licence]} if licence else found


def _licence_of(name: str) -> dict[str, Any] | None:
    """The SPDX expression of an installed package, else its own words for its licence; None where it has none."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    if told["License-Expression"]:
        return {"expression": str(told["License-Expression"])}
    classified = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if "License ::" in line]
    named = classified[0] if classified else (told["License"] or "").strip().partition("\n")[0][:100]
    return {"license": {"name": named}} if named else None


def _version() -> str:
    found = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    return found[1] if found else "unknown"


if __name__ == "__main__":
    named = Path(sys.argv[1])
    say(f"{named}: {write(named)} components")
