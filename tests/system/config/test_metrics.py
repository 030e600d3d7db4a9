"""What Prometheus is told by a real server: rates by route and kind of app, queues, held answers; and nobody's data."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from config.metrics import _Server, fold_ended
from tests.callers import Developer
from tests.factories import AppFactory, ConsentRequestFactory, SharingIdFactory
from tests.factories.accounts import OutgoingMailFactory
from tests.patience import eventually
from tests.served_site import ROOT, Served

pytestmark = pytest.mark.django_db(transaction=True)
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Watched:
    """A server and what it tells."""

    def __init__(self, port: int, var: Path) -> None:
        self.metrics = f"http://127.0.0.1:{port}/metrics"
        self.server = Served(METRICS_ADDRESS=f"127.0.0.1:{port}", CONSENT_VAR=str(var), RELEASE_CHECK="warn")

        self.var = var
        self.environment = {**self.server.environment, "DJANGO_SETTINGS_MODULE": "config.settings"}

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

    def value(self, name: str, **labels: str) -> float | None:
        return samples(self.text()).get((name, frozenset(labels.items())))


def samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def watched(tmp_path: Path, unused_port: int) -> Iterator[Watched]:
    made = Watched(unused_port, tmp_path)
    try:
        made.server.start()
        eventually(made.answers, "an answer to Prometheus")
        yield made
    finally:
        made.server.stop()
        made.server.close()


@pytest.fixture
def unused_port() -> int:
    from deploy.local.serving import free_port

    return free_port()


def test_calls_are_counted_by_route_and_kind_and_name_nobody(watched: Watched) -> None:
    sharing = SharingIdFactory()
    api = Developer.of(AppFactory())
    path = f"/api/v1/user-scopes/{sharing.sharing_id}"
    assert watched.get(path, api.token) == 200
    assert watched.get(path) == 401
    assert watched.get("/livez") == 200

    told, log = watched.text(), watched.server.log()

    route = "/api/v1/user-scopes/<str:user_id>"
    found = samples(told)
    counted = {
        (labels["route"], labels["kind"], labels["status"]): value
        for (name, pairs), value in found.items()
        if name == "consent_request_duration_seconds_count" and (labels := dict(pairs))
    }
    assert counted[route, "live", "200"] == 1
    assert counted[route, "none", "401"] == 1
    assert counted["/livez", "none", "200"] == 1
    assert found["consent_refusals_total", frozenset({("code", "invalid_token")})] == 1
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert (route, 200) in {(line.get("route"), line.get("status")) for line in lines}
    for secret in (api.token, sharing.sharing_id, sharing.user.public_id, sharing.user.email):
        assert secret not in told + log
    assert not re.search(r"(usr|sh)_[a-z0-9]|cr_(live|test)_|@", told)


def test_due_rows_are_counted_and_their_age_told(watched: Watched) -> None:
    assert watched.value("consent_queue_length", queue="mails") == 0
    OutgoingMailFactory(due_at=timezone.now() - timedelta(hours=1))
    OutgoingMailFactory(due_at=timezone.now() + timedelta(hours=1))

    age = watched.value("consent_queue_age_seconds", queue="mails")

    assert watched.value("consent_queue_length", queue="mails") == 1
    assert age is not None
    assert age >= 3600


PANELS = json.loads((ROOT / "deploy" / "monitoring" / "dashboard.json").read_text())["panels"]
RULES = yaml.safe_load((ROOT / "deploy" / "monitoring" / "alerts.yaml").read_text())["groups"][0]["rules"]


@pytest.fixture
def worker(watched: Watched) -> Iterator[None]:
    """With the timer inside; it shares the folder of the server."""
    command = [
        str(Path(sys.executable).with_name("celery")), "--app", "config", "worker", "--beat", "--pool", "threads",
        "--schedule", str(watched.var / "beat"), "--concurrency", "2", "--loglevel", "warning",
        "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip
    with (watched.var / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=watched.environment, start_new_session=True, stdout=log, stderr=log
        )
    yield
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_alerts_and_dashboard_name_what_a_scrape_shows(watched: Watched, worker: None) -> None:
    OutgoingMailFactory(due_at=timezone.now())  # a task to run
    hour = timedelta(hours=1)
    ConsentRequestFactory(
        created_at=timezone.now() - 2 * hour, expires_at=timezone.now() - hour
    )  # an end to write down
    assert watched.get("/api/v1/scope-catalog") == 401  # a call, and a refusal
    expressions = [rule["expr"] for rule in RULES] + [each["expr"] for panel in PANELS for each in panel["targets"]]
    named = set(re.findall(r"\bconsent_\w+", " ".join(expressions)))
    pools = {"consent_database_pool"} if connection.vendor == "sqlite" else set()
    assert len(named) > 10

    def missing() -> set[str]:
        return named - pools - {name for name, _ in samples(watched.text())}

    eventually(lambda: not missing(), "all that is named")


def test_each_alert_leads_to_its_part_of_the_handbook() -> None:
    text = (ROOT / "docs" / "operating.md").read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = [rule["annotations"]["runbook"].partition("#") for rule in RULES]

    assert {document for document, _, _ in links} == {"docs/operating.md"}
    assert {anchor for _, _, anchor in links} == {anchor for anchor in anchors if anchor.startswith("alert-")}
    assert all(rule["labels"]["severity"] in ("critical", "warning") for rule in RULES)


def test_another_programs_port_is_said_once_and_taken_when_it_is_free(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    settings.METRICS_FOLDER = tmp_path
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        mine, beside = (_Server(f"127.0.0.1:{port}", tmp_path) for _ in range(2))
        assert [mine.answers(), mine.answers(), beside.answers()] == [False] * 3
        assert [record.getMessage() for record in caplog.records] == [
            f"nobody can be told metrics at 127.0.0.1:{port}: Address already in use"
        ]
    assert [mine.answers(), mine.answers(), beside.answers()] == [True, True, False]
    mine.close()
    assert beside.answers()
    beside.close()


_COUNTS = """
from prometheus_client import Counter, Gauge
Counter("calls", "Calls.").inc(3)
Gauge("held", "Held.", multiprocess_mode="livesum").set(5)
Gauge("seen", "Seen.", multiprocess_mode="max").set({seen})
"""
_READS = """
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
registry = CollectorRegistry()
MultiProcessCollector(registry)
print(generate_latest(registry).decode())
"""


def test_what_ended_processes_counted_stays_and_their_files_go(tmp_path: Path) -> None:
    def run(code: str) -> str:
        environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout

    for seen in (7, 6):
        run(_COUNTS.format(seen=seen))
    before = samples(run(_READS))
    fold_ended(tmp_path)
    fold_ended(tmp_path)
    after: Any = samples(run(_READS))

    assert before["calls_total", frozenset()] == after["calls_total", frozenset()] == 6
    assert after["seen", frozenset()] == 7
    assert ("held", frozenset()) not in after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counter_0.db", "gauge_max_0.db"]
