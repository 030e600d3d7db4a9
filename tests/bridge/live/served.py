"""The service as it is deployed, on a port that stays its own, so that it can go away and come back."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

from django.conf import settings

ROOT = Path(__file__).resolve().parents[3]
STARTS_WITHIN = 60  # seconds


class Served:
    """granian on this run's test database."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process = None

    def collect(self):
        """Gather the static files that the pages name."""
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
        subprocess.run(command, cwd=ROOT, env=self._environment(), check=True, capture_output=True)

    def start(self):
        """Start, and return when it answers."""
        command = [
            str(Path(sys.executable).with_name("granian")), "--interface", "wsgi", "--host", "127.0.0.1",
            "--port", str(self.port), "--blocking-threads", "20", "--no-ws", "--log-level", "warning",
            "config.wsgi:application",
        ]  # fmt: skip
        environment = self._environment()
        with (settings.VAR / f"served-{self.port}.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            assert self._process.poll() is None, "the service ended by itself"
            try:
                with urllib.request.urlopen(f"{self.url}/livez", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the service does not answer")

    def _environment(self):
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "CONSENT_VAR": str(settings.VAR),
            "DATABASE_URL": database_url(settings.DATABASES["default"]),
            "BASE_URL": self.url,
        }

    def stop(self):
        """End it, whatever it is doing."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # its workers too
            self._process.wait()
            self._process = None


def database_url(database):
    """The test database, as `DATABASE_URL` names one."""
    if database["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{database['NAME']}"
    secret = f":{quote(database['PASSWORD'], safe='')}" if database.get("PASSWORD") else ""
    login = quote(database["USER"] or "", safe="") + secret
    return f"postgres://{login}@{database['HOST']}:{database['PORT'] or 5432}/{database['NAME']}"
