"""Node for the tests of what runs on it: found, new enough, and with exactly the packages of a lock file."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import playwright
import pytest

ROOT = Path(__file__).resolve().parents[2]
OLDEST = 20


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
    """`npm ci` in this folder, unless its packages are those of the lock already; one at a time."""
    node()
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not installed")
    modules = folder / "node_modules"
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    place = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"npm-ci-{place}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = modules / ".installed"
        if not stamp.is_file() or stamp.read_text() != wanted:
            command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            for _ in range(3):  # what comes over the network may fail to once
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    break
            assert done.returncode == 0, done.stdout + done.stderr
            stamp.write_text(wanted)
    return modules


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
