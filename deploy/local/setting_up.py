"""Makes .venv, the secrets and the database; does nothing where they are as they should be."""

import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import run

from deploy.local.place import PYTHON, ROOT, VAR, VENV, fail, manage, must, step

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
            _make_venv()
        step(f"Installing {lock} (hashes checked)")
        pip: list[str | Path] = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        must("Installing the packages", [*pip, "--require-hashes", "--no-deps", "--requirement", lock])
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
    """`var/env`: secrets made at random, once, and those that an older folder lacks; a variable of the environment wins
    over each."""
    with one_at_a_time():
        manage("Making the secrets", "make_keys", "--directory", str(VAR))


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


def make_database(env: dict[str, str]) -> None:
    """The database of DATABASE_URL with its tables and registry, and the static files with their hashed names."""
    with one_at_a_time():
        step(f"Migrating {_database_name()}")
        manage("Migrating the database", "migrate", "--no-input", "--verbosity", "0", env=env)
        manage("Bringing the registry to the starter list", "sync_registry", "--verbosity", "0", env=env)
        manage("Collecting the static files", "collectstatic", "--no-input", "--verbosity", "0", env=env)
        make_release(env)


def make_release(env: dict[str, str]) -> None:
    """The manifest of what was collected, signed by the key in var/: a clone is its own releaser.

    Where somebody else releases, their manifest and their key are given, and nothing is made here.
    """
    if not os.environ.get("RELEASE_MANIFEST") and (VAR / "release-key.json").exists():
        manage("Making the release", "make_release", "--commit", _commit(), env=env)


def _commit() -> str:
    """The commit that is checked out, with `-dirty` where files differ from it; `unknown` without git."""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        told = run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return told.stdout.strip() or "unknown"


def make_sample(env: dict[str, str], beside: dict[str, str], *, keep_address: bool) -> Path:
    """Sample people in this database; the file that holds what they sign in with."""
    with one_at_a_time():
        step("Making sure of the sample data")
        where = ["--neighbourhood", json.dumps(beside), *(["--keep-address"] if keep_address else [])]
        manage("Making the sample data", "sample_data", *where, env=env)
    return VAR / "sample.json"


def _database_name() -> str:
    """What to call the database on the screen: never its password."""
    url = os.environ.get("DATABASE_URL", "")
    if not url or url.startswith("sqlite"):
        return "the SQLite database"
    return f"the PostgreSQL database {url.rsplit('/', 1)[-1].split('?')[0]}"


def _make_venv() -> None:
    step("Making .venv")
    try:
        import ensurepip  # noqa: F401  # Debian splits it off
    except ImportError:
        fail(f"This Python cannot make virtual environments. On Debian: apt-get install python{_version()}-venv")
    must("Making .venv", [sys.executable, "-m", "venv", VENV])


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
