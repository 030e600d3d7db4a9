"""Node, for what is made or checked by programs that run on it: found, and with exactly the packages of a lock file."""

import fcntl
import hashlib
import shutil
import tempfile
from pathlib import Path
from subprocess import run

from deploy.local.place import fail

OLDEST = 20


def is_there() -> bool:
    """Whether this machine has what installs and runs such programs."""
    return shutil.which("node") is not None and shutil.which("npm") is not None


def command() -> str:
    return shutil.which("node") or "node"


def install(folder: Path) -> Path:
    """`npm ci` in this folder, unless its packages are those of the lock already; one at a time. Its node_modules."""
    modules = folder / "node_modules"
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    place = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"npm-ci-{place}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = modules / ".installed"
        if not stamp.is_file() or stamp.read_text() != wanted:
            _install(folder)
            stamp.write_text(wanted)
    return modules


def _install(folder: Path) -> None:
    command = [str(shutil.which("npm")), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    for _ in range(3):  # what comes over the network may fail to once
        done = run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    fail(f"npm ci in {folder} failed:\n{done.stdout}{done.stderr}")
