"""A deployment's secrets: what makes them, what reads them back, and what refuses to start without."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import environ
import pytest
from cryptography.fernet import Fernet
from django.core.checks import run_checks

from config.checks import check_keys, check_log_keys
from consent.ledger import receipts
from consent.log import keys
from tests.fresh import fresh_secrets, signing_key

ROOT = Path(__file__).resolve().parents[3]
ONE_KEY = signing_key()
NAMES = (
    "SECRET_KEY", "DATA_ENCRYPTION_KEYS", "RECEIPT_KEYS", "RECEIPT_KEYS_FILE", "LOG_KEYS", "LOG_KEYS_FILE",
    "RELEASE_VERIFIER_KEY",
)  # fmt: skip
TELL = f"import json, os; print(json.dumps({{name: os.environ[name] for name in {NAMES} if name in os.environ}}))"


def manage(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` as an operator runs it, with these variables and no other of this service."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "CONSENT_VAR")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env={**kept, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def read_by_a_shell(path: Path, shell: str = "sh") -> dict[str, str]:
    """What a process has that a shell started after it read the file."""
    done = subprocess.run(
        [shell, "-euc", 'set -a; . "$1"; exec "$2" -c "$3"', shell, str(path), sys.executable, TELL],
        env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read: dict[str, str] = json.loads(done.stdout)
    return read


def read_by_ourselves(path: Path) -> dict[str, str]:
    """By the reader of config/env.py."""
    found: dict[str, str] = {}

    class Reader(environ.Env):
        ENVIRON = found

    Reader.read_env(str(path))
    return found


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_what_make_keys_prints_is_read_back_by_a_shell_and_by_us(tmp_path: Path, shell: str) -> None:
    printed = manage("make_keys", CONSENT_VAR=str(tmp_path)).stdout
    file = tmp_path / "printed"
    file.write_text(printed)

    by_shell, by_us = read_by_a_shell(file, shell), read_by_ourselves(file)

    assert by_shell == by_us
    assert set(by_shell) == {"SECRET_KEY", "DATA_ENCRYPTION_KEYS", "RECEIPT_KEYS", "LOG_KEYS"}
    assert json.loads(by_shell["RECEIPT_KEYS"])[0]["crv"] == "Ed25519"
    here = {"BASE_URL": "https://consent.example", "CONSENT_VAR": str(tmp_path), "RELEASE_CHECK": "warn"}
    checked = manage("check", "--deploy", **here, **by_shell)
    assert checked.returncode == 0, checked.stderr


def test_the_file_that_make_keys_keeps_is_read_the_same_also_from_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "state of consent"
    assert manage("make_keys", "--directory", str(folder), CONSENT_VAR=str(tmp_path)).returncode == 0
    copied = tmp_path / "copied"
    copied.write_text((folder / "env").read_text())

    by_shell = read_by_a_shell(copied)

    assert by_shell == read_by_ourselves(copied)
    assert json.loads(Path(by_shell["RECEIPT_KEYS_FILE"]).read_text())[0]["kty"] == "OKP"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"DATA_ENCRYPTION_KEYS": ""}, "config.E001"),
        ({"DATA_ENCRYPTION_KEYS": f"{Fernet.generate_key().decode()},x"}, "config.E002"),
        ({"RECEIPT_KEYS": "[]"}, "config.E003"),
        ({"RECEIPT_KEYS": '[{"kty": "OKP"}]'}, "config.E003"),
    ],
    ids=["none", "a second that is none", "no receipt key", "half a receipt key"],
)
def test_keys_that_do_not_work_fail_the_check_and_the_start(tmp_path: Path, change: dict[str, str], found: str) -> None:
    variables = {
        "BASE_URL": "https://consent.example",
        "CONSENT_VAR": str(tmp_path),
        "RELEASE_CHECK": "warn",
        **fresh_secrets(),
        **change,
    }

    checked = manage("check", "--deploy", **variables)
    started = subprocess.run(
        [sys.executable, "-c", "import config.wsgi"], cwd=ROOT, env={"PATH": os.environ["PATH"], **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert checked.returncode != 0
    assert set(re.findall(r"config\.E00[1-5]", checked.stderr)) == {found}
    assert started.returncode != 0
    assert found in started.stderr
    for secret in ("SECRET_KEY", "DATA_ENCRYPTION_KEYS"):
        assert len(variables[secret]) < 40 or variables[secret] not in checked.stderr + started.stderr


@pytest.mark.parametrize(
    ("log_key", "receipt_key", "found"),
    [
        ({"kty": "OKP"}, signing_key(), ["config.E004"]),
        (signing_key(), {"kty": "OKP"}, ["config.E003"]),
        (ONE_KEY, ONE_KEY, ["config.E005"]),
    ],
    ids=["half a key of the log", "half a receipt key", "one key for both"],
)
def test_what_is_wrong_with_a_key_is_said_of_that_key(
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    log_key: dict[str, str],
    receipt_key: dict[str, str],
    found: list[str],
) -> None:
    settings.LOG_KEYS, settings.RECEIPT_KEYS = [log_key], [receipt_key]
    for module in (keys, receipts):
        monkeypatch.setattr(module, "signing_keys", module.signing_keys.__wrapped__)  # whose answer is remembered

    assert [message.id for message in [*check_keys(), *check_log_keys()]] == found


def test_fresh_keys_pass() -> None:
    receipts.signing_keys.cache_clear()

    assert [message for message in run_checks() if str(message.id).startswith("config.")] == []
