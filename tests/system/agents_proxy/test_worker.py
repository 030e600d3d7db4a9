"""The real worker on a queue of its own: killed outright in each of the four steps, in the short form in the second."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as deployed
from django.db import connection

from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.deletions.models import Deletion
from common.clock import database_now
from tests.agents_proxy.agent_server import ORDER, Agents, speaking
from tests.agents_proxy.forgetting import forgetting, unchecked, withdraw
from tests.agents_proxy.proxy_calls import CALL, consenting
from tests.agents_proxy.runs import kept, started
from tests.callers import signed_in
from tests.factories import PersonFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, database_url

pytestmark = pytest.mark.django_db(transaction=True)
BROKERS = ["embedded", *(["redis"] if deployed.REDIS_URL else [])]


class Worker:
    """Celery as `./run` starts it, with a short lease."""

    def __init__(self, agents: Agents, var: Path, broker: str, **environment: str) -> None:
        self.var = var
        self.environment = {
            **os.environ,
            **{f"AGENT_{agent.upper()}_URL": f"{agents.address}/{agent}" for agent in ORDER},
            "DJANGO_SETTINGS_MODULE": "tests.system.agents_proxy.short_lease",
            "CONSENT_VAR": str(var),
            "DATABASE_URL": database_url(),
            "REDIS_URL": deployed.REDIS_URL if broker == "redis" else "",
            **environment,
        }
        self.start()

    def start(self) -> None:
        command = [
            str(Path(sys.executable).with_name("celery")), "--app", "config", "worker", "--beat",
            "--schedule", str(self.var / "beat"), "--pool", "threads", "--concurrency", "4", "--loglevel", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        with (self.var / "worker.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, start_new_session=True, stdout=log, stderr=subprocess.STDOUT
            )

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(params=BROKERS)
def work(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> Iterator[tuple[Agents, Worker]]:
    monkeypatch.setattr(
        analysis_actions, "_enqueue", lambda run_pk: None
    )  # the sweeper of the real worker finds the run
    with speaking() as agents:
        worker = Worker(agents, tmp_path, request.param)
        yield agents, worker
        worker.kill()


@pytest.mark.without_services
@pytest.mark.long("killed in every step; in short in the second")
def test_a_worker_killed_in_any_step_is_replaced_and_no_step_counts_twice(
    work: tuple[Agents, Worker], long_form: bool
) -> None:
    agents, worker = work
    person = PersonFactory()
    for victim in ORDER if long_form else ORDER[1:2]:
        agents.requests.clear()
        reached, killed = threading.Event(), threading.Event()

        def hangs_once(
            _request: dict[str, Any], reached: threading.Event = reached, killed: threading.Event = killed
        ) -> dict[str, Any]:
            if not reached.is_set():
                reached.set()
                killed.wait(MOST_SECONDS)
            return {"age": 5}

        agents.replies = {victim: hangs_once}
        run = started(person)
        assert reached.wait(MOST_SECONDS)
        worker.kill()
        killed.set()
        worker.start()
        unfinished = Run.objects.filter(pk=run.pk, finished_at=None)
        eventually(lambda unfinished=unfinished: not unfinished.all().exists(), "the end of the analysis")  # type: ignore[misc]

        assert kept(run).status == "completed"
        attempts = dict(run.steps.values_list("agent", "attempt"))
        assert attempts == {agent: 2 if agent == victim else 1 for agent in ORDER}
        assert agents.names == [agent for agent in ORDER for _ in range(attempts[agent])]
        assert len({request["id"] for _, request in agents.requests}) == len(ORDER)
        connection.close()


@pytest.mark.parametrize("broker", BROKERS)
def test_a_worker_killed_while_it_has_something_deleted_is_replaced(
    broker: str, tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("agents_proxy.deletions.actions.enqueue", lambda name, pk: None)
    with speaking() as agents, forgetting() as there:
        there.reached_by(settings, agents)
        addresses = {f"AGENT_{name.upper()}_DELETE_URL": f"{there.address}/{name}" for name in ORDER}
        there.go_on.clear()
        worker = Worker(agents, tmp_path, broker, **addresses)
        try:
            person = consenting(PersonFactory())
            signed_in(person).post("/api/a2a/brand", CALL)
            withdraw(person)
            eventually(lambda: there.got, "the request to delete")
            worker.kill()
            assert list(Deletion.objects.values_list("status", "attempts")) == [("sending", 1)]
            Deletion.objects.update(lease_until=database_now() - timedelta(seconds=3))  # a minute later
            there.go_on.set()
            worker.start()
            eventually(lambda: Deletion.objects.filter(status="confirmed").exists(), "the confirmation")
        finally:
            worker.kill()

        assert list(Deletion.objects.values_list("attempts", "subject")) == [(2, None)]
        first, second = (unchecked(statement) for _, statement, _ in there.got)
        assert (first["jti"] != second["jti"], first["sub"], first["before"]) == (True, second["sub"], second["before"])
    connection.close()


def test_a_live_worker_keeps_its_step_longer_than_one_lease(settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(analysis_actions, "_enqueue", lambda run_pk: None)
    settings.ANALYSIS_LEASE_SECONDS = 6
    reached, go_on = threading.Event(), threading.Event()

    def slow(_request: dict[str, Any]) -> dict[str, Any]:
        reached.set()
        go_on.wait(MOST_SECONDS)
        return {"age": 5}

    def at_work() -> None:
        try:
            steps.run_through(run.pk)
        finally:
            connection.close()

    with speaking() as agents:
        settings.AGENTS = {**settings.AGENTS, **agents.settings()}
        agents.replies = {"brand": slow}
        run = started(PersonFactory())
        worker = threading.Thread(target=at_work)
        worker.start()
        assert reached.wait(MOST_SECONDS)
        working = run.steps.get(status="running")
        eventually(lambda: run.steps.get(pk=working.pk).lease_until > working.lease_until, "a longer lease")
        assert steps.claim_step(run.pk) is None
        go_on.set()
        worker.join(MOST_SECONDS)

    assert kept(run).status == "completed"
    assert set(run.steps.values_list("attempt", flat=True)) == {1}
