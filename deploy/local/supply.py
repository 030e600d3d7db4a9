"""What is shipped and what is known about it, by the ecosystems' own tools: cyclonedx-bom, pip-audit and npm."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from deploy.local import node
from deploy.local.place import ROOT, VENV, call, echo, must, step

LOCKS = {f"{name}.in": f"{name}.lock" for name in ("requirements", "requirements-tracing", "requirements-dev")}
FOR_SOME_MACHINES = "requirements-dev.in"  # it names what is there for one kind of machine alone


def lock() -> int:
    """Resolve with uv, in an environment of its own that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        step("Fetching uv")
        must("Making an environment", [sys.executable, "-m", "venv", folder])
        tool = Path(folder) / "bin"
        must("Installing uv", [tool / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "uv"])
        for source, target in LOCKS.items():
            step(f"Resolving {source}")
            made = Path(folder) / target
            shutil.copy(ROOT / target, made)  # what is locked already stays, as far as it may
            must(
                f"Resolving {source}",
                [
                    tool / "uv", "pip", "compile", source, "--output-file", made, "--python-version", "3.11",
                    "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", "--quiet",
                    *(["--no-strip-markers"] if source == FOR_SOME_MACHINES else []),
                ],
            )  # fmt: skip
            made.replace(ROOT / target)
    echo("Done. `--upgrade` by hand: remove the lines to move from the lock file first.")
    return 0


RUNTIME = "requirements.lock"
PYTHON_LOCKS = (RUNTIME, "requirements-tracing.lock", "requirements-dev.lock")
BUNDLED = ROOT / "static/vendor"
NODE_LOCKS = (BUNDLED, ROOT / "bridge-js")
_NO_NODE = "without Node and npm on the path, what browsers are given is left out"


def sbom(folder: Path) -> int:
    """CycloneDX 1.6 into `server.cdx.json`, and what npm writes of the bundles into `pages.cdx.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [VENV / "bin" / "cyclonedx-py", "requirements", ROOT / RUNTIME]
    options: list[str | Path] = [
        "--pyproject",
        ROOT / "pyproject.toml",
        "--spec-version",
        "1.6",
        "--output-reproducible",
    ]
    code = call([*command, *options, "--output-file", folder / "server.cdx.json"])
    if not node.is_there():
        echo(f"- {_NO_NODE}")
        return code
    npm: list[str | Path] = ["npm", "--prefix", BUNDLED, "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"]
    (folder / "pages.cdx.json").write_text(must("Listing the bundles", npm))
    return code


def advisories(options: Sequence[str], locks: Sequence[str | Path] = PYTHON_LOCKS) -> int:
    """1 where something is known about a version that a lock names. `options` are pip-audit's; over the network."""
    audit: list[str | Path] = [VENV / "bin" / "pip-audit", "--disable-pip", "--progress-spinner", "off", *options]
    codes = [call([*audit, "--requirement", ROOT / lock]) for lock in locks]
    if node.is_there():
        codes += [call(["npm", "--prefix", folder, "audit", "--package-lock-only"]) for folder in NODE_LOCKS]
    else:
        echo(f"- {_NO_NODE}")
    return int(any(codes))
