"""`./run` in a folder that an older version left: what it did not know is made, and what is there stays."""

import json
import os
import subprocess
import sys
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
def test_keys_of_the_log_come_to_an_older_folder(tmp_path: Path, left: list[str]) -> None:
    run(MAKE, tmp_path)
    env, keys = tmp_path / "env", tmp_path / "log-keys.json"
    before = read_by_ourselves(env)
    older = [line for line in env.read_text().splitlines() if not line.startswith("LOG_")]
    env.write_text("\n".join([*older, *left]) + "\n")
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
