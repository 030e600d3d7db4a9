"""Where things are, and how `./run` talks."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import run
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
VAR = Path(os.environ.get("CONSENT_VAR") or ROOT / "var").resolve()
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


class Stop(Exception):
    """Something that ends `./run` with a message for the person in front of it."""


def echo(text: str) -> None:
    print(text, flush=True)


def step(text: str) -> None:
    echo(f"\033[1m▸ {text}\033[0m" if sys.stdout.isatty() else f"▸ {text}")


def is_wanted(name: str) -> bool:
    """Whether a switch of the environment is on, as it is where nobody turned it off, in PROFILE=small by one word."""
    return (
        os.environ.get(name) or ("false" if os.environ.get("PROFILE") == "small" else "true")
    ).strip().lower() not in ("false", "0", "no", "off")


def fail(text: str) -> NoReturn:
    raise Stop(text)


def call(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> int:
    """Run in the foreground, seen by whoever watches; the exit code."""
    return run([str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, check=False).returncode


def must(what: str, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> str:
    """Run quietly; its standard output, or `Stop` with everything it said."""
    done = run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        fail(f"{what} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def manage(what: str, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    return must(what, [PYTHON, "manage.py", *arguments], env=env)
