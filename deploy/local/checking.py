"""What `./run check` checks: all of it, each time, and then says what did not pass."""

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from deploy.local import catalogues, contract, node, typescript
from deploy.local.place import PYTHON, ROOT, VENV, echo, manage

BIN = VENV / "bin"
CHECKS: dict[str, list[str]] = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy", "."],
    "rooms": ["lint-imports", "--no-cache"],
    "templates": ["djlint", "templates", "--lint", "--quiet"],
    "security": ["bandit", "--quiet", "--recursive", "--configfile", "pyproject.toml", "."],
}


def check(*, everything: bool = False) -> int:
    """The exit code: 0 where all that can be checked here passes, or, asked for `everything`, all there is."""
    with tempfile.TemporaryDirectory() as folder:
        production = _production(Path(folder))
        checks: dict[str, Callable[[], str]] = {
            name: lambda command=command: _run([str(BIN / command[0]), *command[1:]], production)  # type: ignore[misc]
            for name, command in CHECKS.items()
        }
        checks["migrations"] = lambda: _django(production, "makemigrations", "--check", "--dry-run")
        checks["deployment"] = lambda: _deployment(production, Path(folder))
        checks["contract"] = lambda: contract.complaints(production)
        checks["translations"] = lambda: catalogues.complaints(production)
        is_incomplete = _add_scripts(checks, production)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            passed = dict(zip(checks, pool.map(_passes, checks, checks.values()), strict=True))
        failed = [name for name in checks if not passed[name]]
    if not node.is_there():
        echo("- contract         without Node and npm on the path, bridge-js/src/contract.d.ts was not compared")
    echo(
        f"\n{len(checks) - len(failed)} of {len(checks)} checks passed{': not ' + ', '.join(failed) if failed else ''}."
    )
    return 1 if failed or (everything and is_incomplete) else 0


def _add_scripts(checks: dict[str, Callable[[], str]], env: dict[str, str]) -> bool:
    """Whether the scripts' types are left out: a machine with nothing but Python has nothing to read them with."""
    if missing := typescript.missing():
        echo(f"- {'scripts':16} types not checked: {missing}")
        return True
    for name, project in typescript.PROJECTS.items():
        checks[name] = lambda project=project: _run(typescript.command(project), env)  # type: ignore[misc]
    return False


def _passes(name: str, run: Callable[[], str]) -> bool:
    started = time.monotonic()
    complaint = run()
    line = f"{'✗' if complaint else '✓'} {name:16} {time.monotonic() - started:5.1f} s"
    echo(f"{line}\n{complaint}" if complaint else line)  # in one go: others finish beside it
    return not complaint


def _run(command: list[str], env: dict[str, str]) -> str:
    """What it said where it failed, else nothing."""
    done = subprocess.run(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return (done.stdout or f"exit code {done.returncode}") if done.returncode else ""


def _django(env: dict[str, str], *arguments: str) -> str:
    return _run([str(PYTHON), "manage.py", *arguments], env)


def _deployment(env: dict[str, str], folder: Path) -> str:
    """Django's own look at a deployment that is ready to start, release and all."""
    commands = (
        ("make_keys", "--directory", str(folder)),  # for the release key; the others of `env` win
        ("collectstatic", "--no-input"),
        ("make_release",),
        ("check", "--deploy", "--fail-level", "WARNING"),
    )
    return next((complaint for command in commands if (complaint := _django(env, *command))), "")


def _production(folder: Path) -> dict[str, str]:
    """The environment of a deployment behind TLS, with secrets made for this one look."""
    # as a shell reads it, and through that the settings
    made = dict(word.split("=", 1) for word in shlex.split(manage("Making secrets", "make_keys")))
    return {
        **os.environ,
        **made,
        "BASE_URL": "https://consent.example",
        "BEHIND_TLS_PROXY": "true",
        "CONSENT_VAR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
    }
