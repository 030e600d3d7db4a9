"""What would be published, made and looked at.

The clients, the chart, what an image is built from, the listing for MCP servers, bills of materials and all digests.
"""

import email
import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deploy.local import node, supply
from deploy.local.place import PYTHON, ROOT, VENV, echo, fail, must

BRIDGE, BRIDGE_JS, CHANGES = ROOT / "bridge", ROOT / "bridge-js", ROOT / "CHANGELOG.md"
CHART, DOCKERFILE = ROOT / "deploy" / "chart", ROOT / "deploy" / "image" / "Dockerfile"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json"
URLS = {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
_NOT_SOURCE = shutil.ignore_patterns("build", "*.egg-info", ".*", "__pycache__")
_BUILD = "import os; os.chdir({!r}); from setuptools import build_meta; build_meta.build_{}({!r})"
_PUBLISHING = (
    "twine upload {0}/*.whl {0}/consent_bridge-*.tar.gz · npm publish {0}/consent-bridge-*.tgz · "
    "mcp-publisher publish {0}/server.json · helm push {0}/consent-runtime-*.tgz oci://… · "
    "docker build --file deploy/image/Dockerfile - < {0}/consent-runtime-*-image.tar.gz"
)


def rehearse(folder: Path) -> int:
    """Everything that is published, into this folder; 1 where something does not agree. Nothing leaves the machine."""
    if not node.is_there():
        fail("This packs the client for Node too, and needs Node 20 or newer with npm on the path.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build(folder)
    must("Packing the client for Node", ["npm", "pack", BRIDGE_JS, "--silent", "--pack-destination", folder])
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    pack_image_context(folder / f"consent-runtime-{service}-image.tar.gz")
    if supply.sbom(folder):
        fail("The bill of materials could not be made.")
    if packer := helm():
        versions = ["--version", service, "--app-version", service]
        must("Packing the chart", [packer, "package", CHART, *versions, "--destination", folder])
    else:
        echo("- without helm on the path, the chart is left out")
    project = tomllib.loads((BRIDGE / "pyproject.toml").read_text())["project"]
    (folder / "server.json").write_text(json.dumps(listing(project), indent=2) + "\n")
    files = sorted(folder.iterdir())
    sums = [f"{hashlib.sha256(made.read_bytes()).hexdigest()}  {made.name}\n" for made in files]
    (folder / "SHA256SUMS").write_text("".join(sums))
    for made in files:
        echo(f"  {made.stat().st_size:9,} bytes  {made.name}")
    found = list(complaints(folder, project))
    echo("\n".join(f"✗ {complaint}" for complaint in found) or "✓ versions, links, extras, files and changes agree")
    echo(f"Nothing was published. What would: {_PUBLISHING.format(folder)}")
    return int(bool(found))


def helm() -> str | None:
    """The program, of the development packages or on the path; None where there is none for this machine."""
    return shutil.which("helm", path=f"{VENV / 'bin'}:{os.environ.get('PATH', '')}")


def pack_image_context(to: Path) -> None:
    """The Dockerfile and what it copies, of what git keeps: the same files give the same bytes."""
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    kept = must("Listing what the image copies", ["git", "-C", ROOT, "ls-files", "-z", "--", DOCKERFILE, *sources])
    with (
        to.open("wb") as made,
        gzip.GzipFile("", "wb", fileobj=made, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name in filter(None, kept.split("\0")):
            entry = archive.gettarinfo(ROOT / name, name)
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            with (ROOT / name).open("rb") as file:
                archive.addfile(entry, file)


def build(folder: Path) -> None:
    """The Python client's wheel and sdist, of a copy: what setuptools leaves beside its source stays out of it."""
    with tempfile.TemporaryDirectory() as place:
        source = shutil.copytree(BRIDGE, Path(place) / "bridge", ignore=_NOT_SOURCE)
        for kind in ("wheel", "sdist"):
            must(f"Building the {kind}", [PYTHON, "-c", _BUILD.format(str(source), kind, str(folder))])


def listing(project: dict[str, Any]) -> dict[str, Any]:
    """`server.json`: a host starts the bridge's tools by `uvx --with consent-bridge[mcp] consent-bridge serve`."""
    name, version, page = project["name"], project["version"], project["urls"]["Homepage"]
    address = {
        "name": "CONSENT_BASE_URL",
        "description": "The service's address, ending in /api/v1",
        "isRequired": True,
    }
    token = {"name": "CONSENT_DEVELOPER_TOKEN", "description": "Not needed after `login`", "isSecret": True}
    package = {
        "registryType": "pypi",
        "identifier": name,
        "version": version,
        "runtimeHint": "uvx",
        "runtimeArguments": [{"type": "named", "name": "--with", "value": f"{name}[mcp]=={version}"}],
        "packageArguments": [{"type": "positional", "value": "serve"}],
        "transport": {"type": "stdio"},
        "environmentVariables": [address, token],
    }
    return {
        "$schema": SCHEMA,
        "name": server_name(project),
        "description": "Ask a person for a part of their data, wait, and open what was sealed to this machine",
        "version": version,
        "websiteUrl": page,
        "packages": [package],
    }


def server_name(project: dict[str, Any]) -> str:
    """As the registry wants it: the host of the project's page reversed, and the package."""
    host = str(urlsplit(project["urls"]["Homepage"]).hostname)
    return f"{'.'.join(reversed(host.split('.')))}/{project['name']}"


def complaints(folder: Path, project: dict[str, Any]) -> Iterator[str]:
    """What of the artefacts in this folder does not agree with the rest."""
    version, packed = project["version"], json.loads((BRIDGE_JS / "package.json").read_text())
    if packed["version"].replace("-beta.", "b").replace("-rc.", "rc") != version:
        yield f"the client for Node is {packed['version']}, the Python client {version}"
    if f'__version__ = "{version}"' not in (BRIDGE / "consent_bridge" / "__init__.py").read_text():
        yield f"consent_bridge.__version__ is not {version}"
    if f"\n## {re.match(r'[0-9.]*[0-9]', version)[0]}" not in CHANGES.read_text():  # type: ignore[index]
        yield f"{CHANGES.name} says nothing of {version}"
    if missing := {"homepage", "repository", "bugs"} - packed.keys():
        yield f"package.json lacks {', '.join(sorted(missing))}"
    [wheel], [sdist], [tarball] = (list(folder.glob(f"*{end}")) for end in (".whl", "bridge-*.tar.gz", "bridge-*.tgz"))
    with zipfile.ZipFile(wheel) as archive:
        described = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_string(archive.read(described).decode())
    if missing := URLS - {link.partition(",")[0] for link in metadata.get_all("Project-URL", [])}:
        yield f"the wheel lacks the links {', '.join(sorted(missing))}"
    if metadata.get_all("Provides-Extra") != ["async", "mcp"]:
        yield f"the wheel's extras are {metadata.get_all('Provides-Extra')}"
    if f"mcp-name: {server_name(project)}" not in str(metadata.get_payload()):
        yield f"bridge/README.md does not say mcp-name: {server_name(project)}, which the registry looks for"
    for made, types in ((sdist, "consent_bridge/py.typed"), (tarball, "src/index.d.ts")):
        with tarfile.open(made) as files:
            inside = {name.partition("/")[2] for name in files.getnames()}
        if missing := {"README.md", "LICENSE", types} - inside:
            yield f"{made.name} lacks {', '.join(sorted(missing))}"
    if urlsplit(project["urls"]["Homepage"]).hostname == "consent.example":
        echo("! the project's links name consent.example: write your own before you publish")
