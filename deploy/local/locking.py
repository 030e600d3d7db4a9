"""Remakes the lock files: every package with its version and hashes, and no address in them."""

import shutil
import sys
import tempfile
from pathlib import Path

from deploy.local.place import ROOT, must, say, step

LOCKS = {"requirements.in": "requirements.lock", "requirements-dev.in": "requirements-dev.lock"}


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
                ],
            )  # fmt: skip
            made.replace(ROOT / target)
    say("Done. `--upgrade` by hand: remove the lines to move from the lock file first.")
    return 0
