"""A server and a worker that tell metrics, and what is scraped of them."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families

from deploy.local.serving import free_port
from tests.patience import eventually
from tests.served_site import ROOT, Served

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Watched:
    """A server and what it tells, with a worker and its timer beside it where one is started."""

    def __init__(self, var: Path, **environment: str) -> None:
        address = f"127.0.0.1:{free_port()}"
        self.metrics, self.var = f"http://{address}/metrics", var
        own = {"METRICS_ADDRESS": address, "CONSENT_VAR": str(var), "RELEASE_CHECK": "warn"}
        self.server = Served(**own, **environment)
        (var / settings.STATIC_ROOT.name).symlink_to(settings.STATIC_ROOT.resolve())
        self.environment = {**self.server.environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
        self._worker: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.server.start()
        eventually(self.answers, "an answer to Prometheus")

    def start_worker(self) -> None:
        command = [
            str(Path(sys.executable).with_name("celery")), "--app", "config", "worker", "--beat", "--pool", "threads",
            "--schedule", str(self.var / "beat"), "--concurrency", "2", "--loglevel", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        with (self.var / "worker.log").open("wb") as log:
            self._worker = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, start_new_session=True, stdout=log, stderr=log
            )

    def processes_of_worker(self) -> str:
        """The numbers of those that it started."""
        assert self._worker is not None
        return Path(f"/proc/{self._worker.pid}/task/{self._worker.pid}/children").read_text()

    def kill_worker(self) -> None:
        if self._worker is not None:
            os.killpg(self._worker.pid, signal.SIGKILL)
            self._worker.wait()
            self._worker = None

    def end(self) -> None:
        self.kill_worker()
        self.server.stop()
        self.server.close()

    def get(self, path: str, token: str = "") -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.server.address + path, headers=headers), timeout=60
            ) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code

    def text(self) -> str:
        with urllib.request.urlopen(self.metrics, timeout=60) as answer:
            return str(answer.read().decode())

    def answers(self) -> bool:
        try:
            return bool(self.text())
        except OSError:
            return False

    def samples(self) -> Samples:
        return samples(self.text())

    def value(self, name: str, **labels: str) -> float:
        """0 where there is none."""
        return self.samples().get((name, frozenset(labels.items())), 0.0)


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
