"""What Prometheus is told by a real server: rates by route and kind of app, queues, long polls; and nobody's data."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from errno import ENOSPC
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from django.db import connection
from django.utils import timezone
from prometheus_client import generate_latest
from prometheus_client.mmap_dict import MmapedDict

from config.metrics import _Server, fold_ended, registry
from tests.callers import Developer
from tests.factories import AppFactory, ConsentRequestFactory, SharingIdFactory
from tests.factories.accounts import OutgoingMailFactory
from tests.patience import eventually
from tests.served_site import ROOT
from tests.system.config.watching import Watched, samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.end()


def test_calls_are_counted_by_route_and_kind_and_name_nobody(watched: Watched) -> None:
    sharing = SharingIdFactory()
    api = Developer.of(AppFactory())
    path = f"/api/v1/user-scopes/{sharing.sharing_id}"
    assert watched.get(path, api.token) == 200
    assert watched.get(path) == 401
    assert watched.get("/livez") == 200

    text, log = watched.text(), watched.server.log()

    route = "/api/v1/user-scopes/<str:user_id>"
    found = samples(text)
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
        assert secret not in text + log
    assert not re.search(r"(usr|sh)_[a-z0-9]|cr_(live|test)_|@", text)


def test_due_rows_are_counted_and_their_age_told(watched: Watched) -> None:
    assert watched.value("consent_queue_length", queue="mails") == 0
    OutgoingMailFactory(due_at=timezone.now() - timedelta(hours=1))
    OutgoingMailFactory(due_at=timezone.now() + timedelta(hours=1))

    age = watched.value("consent_queue_age_seconds", queue="mails")

    assert watched.value("consent_queue_length", queue="mails") == 1
    assert age >= 3600


PANELS = json.loads((ROOT / "deploy" / "monitoring" / "dashboard.json").read_text())["panels"]
RULES = yaml.safe_load((ROOT / "deploy" / "monitoring" / "alerts.yaml").read_text())["groups"][0]["rules"]


def test_alerts_and_dashboard_name_what_a_scrape_shows(watched: Watched) -> None:
    watched.start_worker()
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
        return named - pools - {name for name, _ in watched.samples()}

    eventually(lambda: not missing(), "all that is named")
    assert watched.processes_of_worker() == ""  # its timer is a thread


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
        assert [mine.take_turn(), mine.take_turn(), beside.take_turn()] == [False] * 3
        assert [record.getMessage() for record in caplog.records] == [
            f"nobody can be told metrics at 127.0.0.1:{port}: Address already in use"
        ]
    assert [mine.take_turn(), mine.take_turn(), beside.take_turn()] == [True, True, False]
    mine.close()
    assert beside.take_turn()
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


def run(code: str, folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_what_ended_processes_counted_stays_and_their_files_go(tmp_path: Path) -> None:
    for seen in (7, 6):
        run(_COUNTS.format(seen=seen), tmp_path)
    before = samples(run(_READS, tmp_path))
    (tmp_path / f"counter_{2**30}.db").touch()  # it was killed before its file had a size
    fold_ended(tmp_path)
    fold_ended(tmp_path)
    after: Any = samples(run(_READS, tmp_path))

    assert before["calls_total", frozenset()] == after["calls_total", frozenset()] == 6
    assert after["seen", frozenset()] == 7
    assert ("held", frozenset()) not in after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counter_0.db", "gauge_max_0.db"]


def test_a_file_that_another_process_just_made_is_passed_over(tmp_path: Path, settings: Any) -> None:
    run(_COUNTS.format(seen=7), tmp_path)
    (tmp_path / f"counter_{os.getpid()}.db").touch()
    settings.METRICS_FOLDER = tmp_path

    assert samples(generate_latest(registry()).decode())["calls_total", frozenset()] == 3


# a process is killed where it is about to do the n-th thing to a file, for each n until there is none
_KILLED = """
import os, shutil, sys
from itertools import count
from pathlib import Path
import django; django.setup()
from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector
from config.metrics import fold_ended

def folds_until(step, folder):
    done = 0
    def look(event, arguments):
        nonlocal done
        if event in ("os.remove", "os.rename", "open") and str(folder) in str(arguments[0]):
            done += 1
            if done == step:
                os.kill(os.getpid(), 9)
    sys.addaudithook(look)
    fold_ended(folder)
    os._exit(0)

counted = Path(sys.argv[1])
for step in count(1):
    folder = shutil.copytree(counted, counted.with_name(f"killed-{step}"))
    child = os.fork() or folds_until(step, folder)
    _, status = os.waitpid(child, 0)
    fold_ended(folder)
    collected = MultiProcessCollector(CollectorRegistry(), str(folder)).collect()
    (calls,) = (family for family in collected if family.name == "calls")
    print(step, status, calls.samples[0].value, *sorted(path.name for path in folder.iterdir()))
    if status == 0:
        break
"""


def test_a_process_killed_at_any_step_of_folding_leaves_nothing_counted_twice(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    counted.mkdir()
    for seen in (7, 6):
        run(_COUNTS.format(seen=seen), counted)

    printed = [line.split() for line in run(_KILLED, tmp_path, str(counted)).splitlines()]

    assert len(printed) > 10
    assert [status for _, status, *_ in printed] == ["9"] * (len(printed) - 1) + ["0"]
    assert {tuple(left) for _, _, *left in printed} == {("6.0", "counter_0.db", "gauge_max_0.db")}


@pytest.mark.parametrize(("growths", "kept"), [(0, 0), (1, 65536)])
def test_a_disk_without_room_ends_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, growths: int, kept: int
) -> None:
    reserve, file = os.posix_fallocate, tmp_path / "counter_1.db"
    outcomes = [reserve] * growths
    full = Mock(side_effect=OSError(ENOSPC, "No space left on device"))
    monkeypatch.setattr(os, "posix_fallocate", lambda *given: (outcomes.pop() if outcomes else full)(*given))

    made: Any = MmapedDict(str(file))  # type: ignore[no-untyped-call]
    for number in range(2000):
        made.write_value(f"a route with a long name {number}", float(number), 0.0)

    assert [made.read_value(f"a route with a long name {number}")[0] for number in range(2000)] == [*range(2000)]
    assert full.called
    made.close()
    assert file.stat().st_size == kept
