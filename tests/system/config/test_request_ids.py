"""One identifier from the caller to every log line, agent and webhook; and what a log line is made of."""

import io
import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from common import encryption, request_ids
from config.log_lines import LogLines
from consent.notices.webhooks import deliver_due
from developers.models import App, WebhookEndpoint
from tests.agents_proxy.agent_server import ORDER, speaking, waits_for
from tests.agents_proxy.proxy_calls import CALL, configure, consenting
from tests.agents_proxy.runs import kept, started
from tests.callers import Developer, signed_in
from tests.consent.test_webhooks import SECRET, Receiver, receiver  # noqa: F401  # a fixture
from tests.factories import ConsentRequestFactory, PersonFactory
from tests.fakes.agents import agent, answers
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT
from tests.system.agents_proxy.test_worker import BROKERS, Worker

SENT = {"X-Request-Id": "trip-2026.11.20_a"}
SENT_ID = SENT["X-Request-Id"]
AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the deployment's formatter writes of requests."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(LogLines())
    logger, level = logging.getLogger("access"), logging.getLogger("access").level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield text
    logger.setLevel(level)
    logger.removeHandler(handler)


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_line_of_a_request_has_a_member_for_each_fact(log: io.StringIO, app: App, api: Developer) -> None:
    api.get("/consent-status", request_id="req_nothing", headers=SENT)

    (line,) = lines(log)
    at, milliseconds = line.pop("at"), line.pop("ms")
    assert AT.fullmatch(at)
    assert isinstance(milliseconds, float)
    assert line == {
        "level": "info",
        "logger": "access",
        "event": "request",
        "method": "GET",
        "path": "/api/v1/consent-status",
        "route": "/api/v1/consent-status",
        "status": 404,
        "app": app.app_id,
        "trace_id": SENT_ID,
    }


def test_a_line_does_not_say_whom_an_app_asks_about(log: io.StringIO, app: App, api: Developer) -> None:
    api.get("/user-scopes/usr_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    api.get("/user-scopes/sh_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    api.get("/sandbox/people/usr_aaaaaaaaaaaaaaaaaaaaaaaaaa/clock")

    assert [line["path"] for line in lines(log)] == [
        "/api/v1/user-scopes/usr_-",
        "/api/v1/user-scopes/sh_-",
        "/api/v1/sandbox/people/usr_-/clock",
    ]


def test_a_line_holds_neither_query_nor_token_and_names_no_app_for_a_stranger(
    log: io.StringIO, app: App, api: Developer
) -> None:
    api.client.get("/api/v1/scope-catalog", {"token": api.token})
    api.client.get(f"/api/v1/scope-catalog/{api.token}")
    api.client.get("/api/v1/scope-catalog")

    known, _, stranger = lines(log)
    assert (known["path"], known["app"]) == ("/api/v1/scope-catalog", app.app_id)
    assert "app" not in stranger
    assert api.token not in log.getvalue()
    assert "token=" not in log.getvalue()


def test_whatever_is_logged_within_a_request_names_it() -> None:
    record = logging.LogRecord("any", logging.ERROR, __file__, 1, "it %s", ("failed",), None)
    with request_ids.following(SENT_ID):
        within = json.loads(LogLines().format(record))

    assert (within["event"], within["trace_id"]) == ("it failed", SENT_ID)
    assert "trace_id" not in json.loads(LogLines().format(record))
    assert request_ids.current() == ""


@pytest.mark.django_db
def test_an_agent_is_told_which_request_asks(settings: Any) -> None:
    caller = signed_in(consenting(PersonFactory()))
    with agent(answers()) as upstream:
        configure(settings, url=upstream.url)
        caller.post("/api/a2a/brand", CALL, headers=SENT)
        answer = caller.post("/api/a2a/brand", CALL)
    assert [call.headers["x-request-id"] for call in upstream.calls] == [SENT_ID, answer["X-Request-Id"]]


@pytest.mark.django_db(transaction=True)
def test_a_webhook_names_the_request_that_caused_it_or_itself(
    receiver: Receiver,  # noqa: F811  # the fixture
    app: App,
    api: Developer,
) -> None:
    WebhookEndpoint.objects.create(app=app, url=receiver.url, secret=encryption.sealed(SECRET))
    for headers in (SENT, None):
        request = ConsentRequestFactory(app=app)
        api.post("/end-consent", {"request_id": request.request_id}, headers=headers)
    app.webhook_endpoints.get().deliveries.filter(notice__sequence=2).update(trace_id="")
    deliver_due()

    request_ids = {headers["webhook-id"]: headers["X-Request-Id"] for headers, _ in receiver.arrived}
    first, second = (f"msg_{app.app_id}_{sequence}" for sequence in (1, 2))
    assert request_ids == {first: SENT_ID, second: second}


def sent_from_a_request(worker: Worker) -> None:
    """A task as a request sends it: in a process whose tasks go to that worker."""
    code = (
        "import config.celery, django; django.setup()\n"
        "from agents_proxy.tasks import run_analysis; from common import request_ids\n"
        f"with request_ids.following({SENT_ID!r}): run_analysis.delay(0)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=worker.environment, check=True, timeout=60)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", BROKERS)
def test_a_task_carries_the_request_into_the_workers_log_and_a_worker_ends(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked to end in the middle of a step, it puts the step back, and the next worker asks again."""
    monkeypatch.setattr("agents_proxy.analyses.actions._enqueue", lambda run_pk: None)  # the sweeper finds the run
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    monkeypatch.setenv("SHUTDOWN_GRACE_SECONDS", "2")
    never = threading.Event()
    with speaking() as agents:
        worker = Worker(agents, tmp_path, broker)
        try:
            sent_from_a_request(worker)
            logged = lambda: [  # noqa: E731
                json.loads(line) for line in (tmp_path / "worker.log").read_text().splitlines() if line.startswith("{")
            ]
            # Redis may still hold what the sweeper of a worker killed in another test sent.
            ours = lambda: [  # noqa: E731
                line for line in logged() if line["event"] == "task" and line.get("trace_id") == SENT_ID
            ]
            eventually(ours, "the task in the log")
            (line,) = ours()
            agents.replies = {"brand": waits_for(never, {})}
            run = started(PersonFactory())
            eventually(lambda: agents.names == ["brand"], "a call of the agent")
            worker.process.terminate()
            code, ended = worker.process.wait(MOST_SECONDS), timezone.now()
            step = run.steps.get(agent="brand")
            agents.replies = {}
            worker.start()
            eventually(lambda: kept(run).finished_at is not None, "the end of the analysis")
        finally:
            never.set()
            worker.kill()

    assert (line["task"], line["state"]) == ("agents_proxy.tasks.run_analysis", "SUCCESS")
    assert code == 0
    assert (step.status, step.error_code, step.lease_until < ended) == ("running", "", True)
    assert kept(run).status == "completed"
    assert agents.names == ["brand", *ORDER]
