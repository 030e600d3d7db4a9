"""What `./run` makes in its state folder, and in which it does not start."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.system.config.test_keys import ROOT, manage, read_by_ourselves

MAKE = "from deploy.local.setting_up import make_secrets, read_settings; make_secrets(); read_settings()"
TELL = "from deploy.local.setting_up import signer_file; print(signer_file().name)"


def run(code: str, var: Path, **variables: str) -> str:
    """As `./run` does it, with this folder and no variable of this service."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**kept, "CONSENT_VAR": str(var), **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("left", [[], ["LOG_KEYS_FILE="]], ids=["no name", "a name alone"])
def test_what_is_missing_is_made_and_what_is_there_stays(tmp_path: Path, left: list[str]) -> None:
    run(MAKE, tmp_path)
    env, keys = tmp_path / "env", tmp_path / "log-keys.json"
    before = read_by_ourselves(env)
    others = [line for line in env.read_text().splitlines() if not line.startswith("LOG_")]
    env.write_text("\n".join([*others, *left]) + "\n")
    keys.unlink()

    run(MAKE, tmp_path)

    after = read_by_ourselves(env)
    assert after == before
    assert [key["crv"] for key in json.loads(keys.read_text())] == ["Ed25519"]
    assert (env.stat().st_mode & 0o777, keys.stat().st_mode & 0o777) == (0o600, 0o600)
    checked = manage("check", CONSENT_VAR=str(tmp_path))
    assert checked.returncode == 0, checked.stderr


def test_each_database_has_a_signer_of_its_own(tmp_path: Path) -> None:
    """One that signed for SQLite would refuse the log of the PostgreSQL that the next `./run` is given."""
    own, other = (
        run(TELL, tmp_path, DATABASE_URL=f"postgres://consent:secret@127.0.0.1:5432/{name}") for name in ("one", "two")
    )

    assert own != other
    assert run(TELL, tmp_path, DATABASE_URL="postgres://consent:changed@127.0.0.1:5432/one") == own
    assert run(TELL, tmp_path) == run(TELL, tmp_path, DATABASE_URL="sqlite:///x") == "log-signer.json\n"


def test_a_database_from_before_0_1_0_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    run(MAKE, tmp_path)
    file = tmp_path / "db.sqlite3"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")  # as the service leaves it
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT)")
        rows = [("pkm", "0001_initial", "2026-11-20"), ("pkm", "0002_starter_registry", "2026-11-20")]
        database.executemany("INSERT INTO django_migrations (app, name, applied) VALUES (?, ?, ?)", rows)
    before = file.read_bytes()

    done = manage("migrate", "--no-input", CONSENT_VAR=str(tmp_path))

    assert done.returncode == 1
    assert f"The database {file} is from before 0.1.0" in done.stderr
    assert f"Delete {tmp_path} with all in it" in done.stderr
    assert file.read_bytes() == before
