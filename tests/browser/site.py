"""The real server for the browser tests: granian with the deployment's settings, on this run's test database.

What a test commits with factories, the server sees; both have the same secrets.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 60  # seconds


@contextmanager
def running_site() -> Iterator[str]:
    """The address of the running server, by name: browsers count localhost as a secure context."""
    port = _free_port()
    address = f"http://localhost:{port}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CONSENT_VAR": str(settings.VAR),
        "DATABASE_URL": _database_url(settings.DATABASES["default"]),
        "BASE_URL": address,
        "LOG_LEVEL": "INFO",
    }
    _manage(environment, "collectstatic", "--no-input", "--verbosity", "0")
    log = settings.VAR / "server.log"
    command = [
        str(Path(sys.executable).with_name("granian")), "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--blocking-threads", "40", "--no-ws", "--log-level", "warning",
        "config.wsgi:application",
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def server_log() -> str:
    """What the server wrote so far."""
    return (settings.VAR / "server.log").read_text(errors="replace")


def _manage(environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _database_url(database: dict[str, Any]) -> str:
    """The test database, as `DATABASE_URL` names one."""
    if database["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{database['NAME']}"
    login = quote(database["USER"] or "", safe="")
    if database.get("PASSWORD"):
        login += f":{quote(database['PASSWORD'], safe='')}"
    return f"postgres://{login}@{database['HOST']}:{database['PORT'] or 5432}/{database['NAME']}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server ended:\n{log.read_text(errors='replace')}"
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server is not ready:\n{log.read_text(errors='replace')}")
