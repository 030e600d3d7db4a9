"""What a collector is told, and that one trace leads from the caller through server and worker to an agent."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings
from django.db import connection
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.proxy_calls import consenting
from tests.callers import Developer, signed_in
from tests.factories import AppFactory, PersonFactory, SharingIdFactory
from tests.fakes.agents import agent, answers
from tests.patience import eventually
from tests.served_site import ROOT, Served
from tests.system.agents_proxy.test_worker import Worker

pytestmark = pytest.mark.django_db(transaction=True)
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = {
    "traceparent": f"00-{TRACE}-b7ad6b7169203331-01",
    "tracestate": "theirs=1",
    "baggage": "who=canary-of-baggage",
}
SESSION = "session-20917749302211"
PROMPT = "Who is the canary of the prompt?"


class Collector:
    """Takes spans as OTLP over HTTP has them."""

    def __init__(self) -> None:
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing to standard error."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }

    def spans(self) -> list[Span]:
        return [
            span
            for body in list(self.received)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def of_trace(self) -> list[Span]:
        return [span for span in self.spans() if span.trace_id.hex() == TRACE]

    def names(self) -> set[str]:
        return {span.name for span in self.of_trace()}


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_callers_trace_goes_on_to_the_database_an_agent_and_the_log_and_tells_no_values(collector: Collector) -> None:
    person = consenting(PersonFactory())
    sharing, api = SharingIdFactory(), Developer.of(AppFactory())
    session = signed_in(person).client.cookies[settings.SESSION_COOKIE_NAME].value
    with agent(answers()) as upstream:
        served = Served(**collector.environment, AGENT_BRAND_URL=upstream.url)
        try:
            served.start()
            answer = requests.get(
                f"{served.address}/api/v1/user-scopes/{sharing.sharing_id}?token={api.token}",
                headers=TRACEPARENT,
                timeout=60,
            )
            called = requests.post(
                f"{served.address}/api/a2a/brand", json={"text": PROMPT, "sessionId": SESSION},
                cookies={settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: "t" * 32},
                headers={**TRACEPARENT, "X-CSRFToken": "t" * 32, "Origin": served.address}, timeout=60,
            )  # fmt: skip
            wrong_host = requests.get(f"{served.address}/livez", headers={"Host": "wrong.example"}, timeout=60)
            wanted = {"GET /api/v1/user-scopes/<str:user_id>", "POST /api/a2a/<path:agent>", "POST"}
            eventually(lambda: wanted <= collector.names(), "the spans")
        finally:
            served.stop()
            served.close()

    assert (answer.status_code, called.status_code, wrong_host.status_code) == (200, 200, 400)
    assert "X-Request-Id" in wrong_host.headers
    (call,) = upstream.calls
    assert call.headers["traceparent"].split("-")[:2] == ["00", TRACE]
    assert "baggage" not in call.headers
    spans = {span.name: span for span in collector.of_trace()}
    assert spans["POST"].parent_span_id == spans["POST /api/a2a/<path:agent>"].span_id
    assert ("SELECT" in spans) is (connection.vendor == "postgresql")
    lines = [json.loads(line) for line in served.log().splitlines() if line.startswith("{")]
    assert {line["route"] for line in lines if line.get("trace") == TRACE} >= {"/api/a2a/<path:agent>"}
    everything = b"".join(collector.received)
    secrets = (
        api.token, sharing.sharing_id, sharing.user.public_id, person.public_id, person.email, session, upstream.url,
        PROMPT, SESSION, "canary", "/user-scopes/sh_",
    )  # fmt: skip
    assert [secret for secret in secrets if secret.encode() in everything] == []


def test_a_task_is_part_of_the_trace_that_asked_for_it(collector: Collector, tmp_path: Path) -> None:
    code = (
        "import config.celery, django; django.setup()\n"
        "from config import telemetry; telemetry.start('asks')\n"
        "from agents_proxy.tasks import run_analysis\n"
        "from opentelemetry import context, propagate\n"
        f"context.attach(propagate.extract({TRACEPARENT!r}))\n"
        "run_analysis.delay(0)"
    )
    with speaking() as agents:
        worker = Worker(agents, tmp_path, "embedded", **collector.environment, LOG_LEVEL="DEBUG")
        try:
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=worker.environment, check=True, timeout=60)
            task = "agents_proxy.tasks.run_analysis"
            eventually(lambda: {f"apply_async/{task}", f"run/{task}"} <= collector.names(), "both spans")
        finally:
            worker.kill()

    by_name: dict[str, Any] = {span.name: span for span in collector.of_trace()}
    assert by_name[f"run/{task}"].parent_span_id == by_name[f"apply_async/{task}"].span_id
    logged = (tmp_path / "worker.log").read_text()
    assert any(json.loads(line).get("trace") == TRACE for line in logged.splitlines() if line.startswith("{"))


def test_nothing_of_it_is_loaded_without_a_collector() -> None:
    code = "import config.wsgi, sys; print([name for name in sys.modules if 'opentelemetry.instrumentation' in name])"
    served = Served(RELEASE_CHECK="warn", OTEL_EXPORTER_OTLP_ENDPOINT="")
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=served.environment, capture_output=True, text=True, check=True
        )
    finally:
        served.close()

    assert done.stdout.strip() == "[]"
