"""The service as it is deployed: granian with the deployment's settings, on this run's test database.

Its password hash alone is the cheap one of the tests (tests/served_settings.py). What a test commits with factories,
the server sees; both have the same secrets.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings

from tests.fresh import signing_key
from tests.patience import MOST_SECONDS, eventually

ROOT = Path(__file__).resolve().parents[1]


class Served:
    """One server on a port that stays its own, so that it can go away and come back.

    `address` names the host: browsers count localhost as a secure context. `own_settings` are environment variables.
    One that is to be killed is `killable`: a group of its own, which outlives a run that is itself killed.
    """

    def __init__(self, *, killable: bool = False, **own_settings: str) -> None:
        # bound and never listening, it keeps the port from others while the server is away; granian shares it
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = int(self._place.getsockname()[1])
        self.address = f"http://localhost:{self.port}"
        self._log = settings.VAR / f"server-{self.port}.log"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.served_settings",
            "CONSENT_VAR": str(settings.VAR),
            "DATABASE_URL": database_url(),
            "BASE_URL": self.address,
            "LOG_LEVEL": "INFO",
        }
        self.environment |= {**_collected(self.environment), **own_settings}
        self._kill_timeout = str(int(own_settings.get("SHUTDOWN_GRACE_SECONDS", "6")) + 2)
        self._killable = killable
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and return when it is ready."""
        command = [
            str(Path(sys.executable).with_name("granian")), "--interface", "wsgi", "--host", "127.0.0.1",
            "--port", str(self.port), "--blocking-threads", "40", "--no-ws", "--log-level", "warning",
            "--workers-kill-timeout", self._kill_timeout, "config.wsgi:application",
        ]  # fmt: skip
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=self._killable,
            )  # fmt: skip
        try:
            eventually(self._is_ready, "a server that is ready")
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self._log_text()}") from None

    def stop(self) -> None:
        """Let it end as a deployment would."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def send(self, number: signal.Signals) -> None:
        """Send its first process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def is_running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    def exit_code(self) -> int:
        """What it ends with by itself."""
        assert self._process is not None
        return self._process.wait(MOST_SECONDS)

    def manage(self, *arguments: str) -> str:
        """One of Django's commands with the environment of this server; what it printed."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def log(self) -> str:
        """What it wrote so far."""
        return self._log_text()

    def kill(self) -> None:
        """End it and its workers, whatever they are doing."""
        if self._process is not None:
            with suppress(ProcessLookupError):  # it ended by itself
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Give its port away; it is stopped or killed before."""
        self._place.close()

    def _is_ready(self) -> bool:
        assert self.is_running(), "the server ended"
        try:
            with urllib.request.urlopen(f"{self.address}/readyz", timeout=5):
                return True
        except OSError:
            return False

    def _log_text(self) -> str:
        return self._log.read_text(errors="replace")


@contextmanager
def running_site(**own_settings: str) -> Iterator[str]:
    """The address of a running server."""
    served = Served(**own_settings)
    try:
        served.start()
        yield served.address
    finally:
        served.stop()
        served.close()


def holds_all_it_may(address: str, token: str) -> bool:
    """Whether the process there holds as many answers of this app as STATUS_WAITERS_PER_APP admits."""
    # refused before the header is read where no place is left, and because of the header where one is
    headers = {"Authorization": f"Bearer {token}", "Last-Event-ID": "none"}
    try:
        urllib.request.urlopen(urllib.request.Request(f"{address}/api/v1/consent-events", headers=headers), timeout=60)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code == 429
    raise AssertionError("a stream began")


def database_url() -> str:
    """The test database, as `DATABASE_URL` names one."""
    database: dict[str, Any] = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{database['NAME']}"
    login = quote(database["USER"] or "", safe="")
    if database.get("PASSWORD"):
        login += f":{quote(database['PASSWORD'], safe='')}"
    return f"postgres://{login}@{database['HOST']}:{database['PORT'] or 5432}/{database['NAME']}"


def _collected(environment: dict[str, str]) -> dict[str, str]:
    """Static files and their release where this process's servers look; one process makes both for all.

    Returns the variables by which a server knows its release.
    """
    shared = Path(settings.RUN_VAR) / "collected"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "done").exists():
            (shared / "release-key.json").write_text(json.dumps(signing_key()))
            there = {**environment, "CONSENT_VAR": str(shared)}
            for arguments in (["collectstatic", "--no-input"], ["make_release", "--commit", "of-a-test-run"]):
                command = [sys.executable, "manage.py", *arguments, "--verbosity", "0"]
                done = subprocess.run(command, cwd=ROOT, env=there, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stdout + done.stderr
            (shared / "done").write_text(done.stdout.splitlines()[-1])
    if not settings.STATIC_ROOT.is_symlink():
        settings.STATIC_ROOT.rmdir()
        settings.STATIC_ROOT.symlink_to(shared / settings.STATIC_ROOT.name, target_is_directory=True)
    return {
        "RELEASE_MANIFEST": str(shared / "release.note"),
        "RELEASE_VERIFIER_KEY": (shared / "done").read_text(),
        "RELEASE_CHECK": "refuse",
    }
