"""Makes .venv, the secrets and the database; does nothing where they are as they should be."""

import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from subprocess import run

from deploy.local.place import PYTHON, ROOT, VAR, VENV, fail, must, step
from deploy.local.preparing import Step, prepare

RUNTIME, DEVELOPMENT = "requirements.lock", "requirements-dev.lock"


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two `./run` at once set up one after the other."""
    VAR.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (VAR / ".setting-up").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_environment(lock: str) -> None:
    """.venv with the packages of `lock` and the bridge, unless it has exactly these."""
    with one_at_a_time():
        wanted = _fingerprint(lock)
        if wanted in _stamps():
            return
        if not PYTHON.exists():
            step("Making .venv")
            must("Making .venv", [sys.executable, "-m", "venv", "--without-pip", VENV])
        step(f"Installing {lock} (hashes checked)")
        # what is never imported is never compiled, which is most of it
        pip = [*_pip(lock), "--disable-pip-version-check", "--quiet", "install", "--no-compile"]
        must("Installing the packages", [*pip, "--require-hashes", "--no-deps", "--requirement", lock])
        step("Installing the bridge")
        # Built from a copy: the build leaves folders behind.
        source = VAR / "bridge-build"
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(
            ROOT / "bridge", source, ignore=shutil.ignore_patterns("build", "*.egg-info", ".*", "__pycache__")
        )
        must("Installing the bridge", [*pip, "--no-deps", "--no-build-isolation", "--force-reinstall", source])
        shutil.rmtree(source)
        _write_stamps(wanted, lock)


def make_secrets() -> None:
    """`var/env`: secrets made at random, those that are missing; a variable of the environment wins over each."""
    with one_at_a_time():
        must("Making the secrets", [PYTHON, "-m", "consent.release.fresh_keys", VAR])


def read_settings() -> None:
    """What stands in `var/env`, for what is started beside the server as for the server itself; real variables win."""
    for line in (VAR / "env").read_text().splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.isidentifier():
            os.environ.setdefault(name, value.strip().strip("'\""))


def signer_file() -> Path:
    """What the signer of the public log remembers, of the database of DATABASE_URL: another one has another log."""
    url = os.environ.get("DATABASE_URL", "")
    if not url or url.startswith("sqlite"):
        return VAR / "log-signer.json"
    of_this = hashlib.sha256(url.rsplit("@", 1)[-1].encode()).hexdigest()[:12]
    return VAR / f"log-signer-{of_this}.json"


def log_settings(base_url: str = "") -> dict[str, str]:
    """Where the log's signer remembers what it signed, and the name of the log: that which the signer began with.

    So a trip on another port, and a command, go on with the same log; it begins under the name of `base_url`.
    """
    file = Path(os.environ.get("LOG_SIGNER_FILE") or signer_file())
    begun = f"{base_url.partition('://')[2]}/log" if base_url else ""
    if file.exists():
        begun = json.loads(file.read_text())["origin"].partition("/log")[0] + "/log"
    return {"LOG_SIGNER_FILE": str(file), "LOG_ORIGIN": os.environ.get("LOG_ORIGIN") or begun}


def make_ready(env: dict[str, str], beside: dict[str, str], *, keep_address: bool) -> None:
    """The database of DATABASE_URL with its tables, registry and sample people, and the static files with their hashed
    names; var/sample.json says what the people sign in with. `Stop` where a server could not start on it."""
    quiet = ("--verbosity", "0")
    where = ["--neighbourhood", json.dumps(beside), *(["--keep-address"] if keep_address else [])]
    steps = [
        Step(f"Migrating {_database_name()}", "Migrating the database", ["migrate", "--no-input", *quiet]),
        Step("", "Bringing the registry to the starter list", ["sync_registry", *quiet]),
        Step("Collecting the static files", "Collecting the static files", ["collectstatic", "--no-input", *quiet]),
        *_release(),
        Step("Making sure of the sample data", "Making the sample data", ["sample_data", *where]),
        Step("", "Checking the settings", ["check", "--fail-level", "ERROR"]),
    ]
    with one_at_a_time():
        prepare(steps, env)


def _release() -> list[Step]:
    """The manifest of what was collected, signed by the key in var/: a clone is its own releaser.

    Where somebody else releases, their manifest and their key are given, and nothing is made here.
    """
    if os.environ.get("RELEASE_MANIFEST") or not (VAR / "release-key.json").exists():
        return []
    return [Step("", "Making the release", ["make_release", "--commit", _commit()])]


def _commit() -> str:
    """The commit that is checked out, with `-dirty` where files differ from it; `unknown` without git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        described = run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return described.stdout.strip() or "unknown"


def _database_name() -> str:
    """What to call the database on the screen: never its password."""
    url = os.environ.get("DATABASE_URL", "")
    if not url or url.startswith("sqlite"):
        return "the SQLite database"
    return f"the PostgreSQL database {url.rsplit('/', 1)[-1].split('?')[0]}"


def _pip(lock: str) -> list[str | Path]:
    """This Python's own pip where it has one, since another takes longer to make than the environment around it.

    The tests build packages, and for them the environment has its own.
    """
    if lock == RUNTIME and _has_pip_for_others():
        return [sys.executable, "-m", "pip", "--python", PYTHON]
    if run([PYTHON, "-c", "import pip"], capture_output=True, check=False).returncode:
        if find_spec("ensurepip") is None:  # Debian splits it off
            fail(f"This Python cannot make virtual environments. On Debian: apt-get install python{_version()}-venv")
        step("Making pip for .venv")
        must("Making pip", [PYTHON, "-m", "ensurepip"])
    return [PYTHON, "-m", "pip"]


def _has_pip_for_others() -> bool:
    """Whether this Python has a pip that can install into another environment, as it can from 22.3 on."""
    try:
        major, minor = metadata.version("pip").split(".")[:2]
        return (int(major), int(minor)) >= (22, 3)
    except (metadata.PackageNotFoundError, ValueError):
        return False


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _fingerprint(lock: str) -> str:
    """Changes with the lock file, the bridge's source and the Python."""
    hashed = hashlib.sha256(f"{_version()} {lock}".encode())
    for path in [
        ROOT / lock,
        ROOT / "bridge/pyproject.toml",
        *sorted((ROOT / "bridge/consent_bridge").glob("**/*.py")),
    ]:
        hashed.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return hashed.hexdigest()


def _stamps() -> list[str]:
    stamp = VENV / ".installed"
    return stamp.read_text().split() if PYTHON.exists() and stamp.is_file() else []


def _write_stamps(wanted: str, lock: str) -> None:
    """The longer list holds the shorter one, so with it both are installed."""
    stamps = [wanted] if lock == RUNTIME else [wanted, _fingerprint(RUNTIME)]
    (VENV / ".installed").write_text("\n".join(stamps))
