"""Node for the tests of what runs on it: found, new enough, and with exactly the packages of a lock file."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import playwright
import pytest

from deploy.local import node as packages

ROOT = Path(__file__).resolve().parents[3]
OLDEST = packages.OLDEST


@cache
def node():
    """The command of a Node that is new enough; the test is skipped where there is none."""
    # Where the machine's own is too old, the one that Playwright drives browsers with serves as well.
    bundled = Path(playwright.__file__).parent / "driver" / "node"
    for found in (shutil.which("node"), str(bundled)):
        if found and Path(found).exists() and version_of(found) >= OLDEST:
            return found
    pytest.skip(f"Node {OLDEST} or newer is not installed")


def version_of(command):
    printed = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    return int(printed.lstrip("v").split(".")[0] or 0)


def install(folder):
    """The packages of this folder's lock, or the test is skipped where there is nothing to install them with."""
    node()
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    return packages.install(folder)


def run(*arguments, cwd=ROOT, seconds=120, **environ):
    """Run Node; its standard output, or a failure with everything it said."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CONSENT_")}
    done = subprocess.run(
        [node(), *map(str, arguments)],
        cwd=cwd,
        env={**inherited, **environ},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
