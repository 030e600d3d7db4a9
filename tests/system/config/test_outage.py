"""The database, or the broker, goes away and comes back while a real server runs: behind a gate on PostgreSQL, by its
file on SQLite. Nobody gets an empty answer, nothing is lost, and nothing has to be started again.
"""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as deployed
from django.db import connection
from django.urls import reverse

from bench.faults.cluster import Cluster
from common import heartbeats
from tests import factories
from tests.addresses import ADDRESSES, path_of
from tests.callers import Developer, signed_in
from tests.config.gate import Gate
from tests.config.refusals import Answer, unlike_a_refusal
from tests.config.wanted_headers import lacking
from tests.fresh import fresh_secrets
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import Served, database_url

pytestmark = pytest.mark.django_db(transaction=True)
# what is answered without the database, as far as a stranger's call gets
WITHOUT = {"livez", "readyz", ".well-known/consent-keys.json"}

ROOT = Path(__file__).resolve().parents[3]
WRITES = """
import django, sys
django.setup()
from django.db import Error, connection
for _ in sys.stdin:
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS kept (port integer)")
            cursor.execute("INSERT INTO kept VALUES (inet_server_port())")
            cursor.execute("SELECT string_agg(port::text, ',') FROM kept")
            print(cursor.fetchone()[0], flush=True)
    except Error as error:
        print(type(error).__name__, flush=True)
    connection.close()
"""


class Site:
    """A server behind TLS as its proxy would talk to it, with a person's session and an app's token."""

    def __init__(self, served: Served, person: Any, app: Any) -> None:
        self.served = served
        self.cookie = f"__Host-sessionid={signed_in(person).client.cookies['sessionid'].value}"
        self.token = Developer.of(app).headers["Authorization"]

    def call(self, method: str, path: str, *, body: bytes = b"", **headers: str) -> Answer:
        line = http.client.HTTPConnection("localhost", self.served.port, timeout=MOST_SECONDS)
        sent = {"X-Forwarded-Proto": "https", "Content-Type": "application/json", **headers}
        line.request(method, path, body=body, headers={name.replace("_", "-"): value for name, value in sent.items()})
        answer = line.getresponse()
        read = b"" if answer.getheader("Content-Type") == "text/event-stream" else answer.read()
        line.close()
        return Answer(answer.status, answer.headers, read)

    def page(self, path: str) -> Answer:
        return self.call("GET", path, Cookie=self.cookie)

    def ready(self) -> tuple[int, dict[str, Any]]:
        answer = self.call("GET", "/readyz")
        return answer.status, json.loads(answer.body)

    def wait_until_away(self) -> None:
        """Until the server knows that PostgreSQL is away, and asks it nothing more."""
        if connection.vendor == "postgresql":
            eventually(lambda: "the database is away" in self.served.log(), "the watch's finding")

    def wait_until_back(self) -> None:
        eventually(lambda: self.ready()[0] == 200, "a server that is ready")
        eventually(lambda: self.page("/consent/").status == 200, "a page")


@pytest.fixture
def gate() -> Iterator[Gate | None]:
    """In front of PostgreSQL; None with SQLite, whose file needs none."""
    if connection.vendor != "postgresql":
        yield None
        return
    database = deployed.DATABASES["default"]
    made = Gate((database["HOST"], int(database["PORT"] or 5432)))
    yield made
    made.close()


@contextmanager
def served(gate: Gate | None, **more: str) -> Iterator[Served]:
    url = database_url()
    if gate is not None:
        at, _, name = url.rpartition("@")[2].partition("/")
        url = url.replace(f"@{at}/{name}", f"@127.0.0.1:{gate.port}/{name}")
    made = Served(DATABASE_URL=url, BASE_URL="https://localhost", BEHIND_TLS_PROXY="true", **more)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        made.close()


@pytest.fixture
def site(gate: Gate | None, person: Any, app: Any) -> Iterator[Site]:
    with served(gate) as server:
        yield Site(server, person, app)


@contextmanager
def refused(gate: Gate | None, *, garbage: bool = False) -> Iterator[None]:
    """The database's host takes no connection; or SQLite's file cannot be opened, or is none."""
    if gate is not None:
        gate.refuse()
        try:
            yield
        finally:
            gate.open()
        return
    from pathlib import Path

    file = Path(str(connection.settings_dict["NAME"]))
    aside = file.with_suffix(".aside")
    connection.close()
    file.rename(aside)
    file.write_text("this is no database\n" * 200) if garbage else file.mkdir()
    try:
        yield
    finally:
        file.unlink() if garbage else file.rmdir()
        aside.rename(file)


def test_every_address_answers_while_the_database_is_away(site: Site, gate: Gate | None, person: Any, app: Any) -> None:
    assert site.page("/consent/").status == 200  # the pool has connections to lose
    for path, wanted in (("/static/js/shell.js", 200), ("/static/nothing", 404), ("/api/v1/consent-events", 200)):
        answer = site.call("GET", path, Authorization=site.token)
        assert (path, answer.status, lacking(path, answer.status, answer.headers, https=True)) == (path, wanted, [])
    wrong, statuses = {}, {}
    with refused(gate):
        assert site.ready()[0] == 503
        site.wait_until_away()
        for address in sorted({one.route for one in ADDRESSES}):
            path = path_of(address)
            for who, answer in (
                ("person", site.page(path)),
                ("developer", site.call("POST", path, body=b"{}", Authorization=site.token)),
            ):
                statuses[f"{who} {address}"] = answer.status
                problems = lacking(path, answer.status, answer.headers, https=True)
                problems += unlike_a_refusal(path, answer) if answer.status == 503 else []
                if problems or not (answer.body or 300 <= answer.status < 400 or answer.status == 405):
                    wrong[f"{who} {path} {answer.status}"] = problems
        assert wrong == {}
        assert {status for status in statuses.values() if status >= 500} == {503}
        unavailable = {name for name, status in statuses.items() if status == 503}
        assert {f"person {name}" for name in ("consent/", "vault/keys", "admin/", "accounts/login/")} <= unavailable
        assert site.page("/static/nothing").status in (404, 503)
        assert site.page("/livez").status == 200
    assert_back(site)


def assert_back(site: Site) -> None:
    """Ready and serving the same session again, without a restart."""
    site.wait_until_back()
    # and of all its connections none is left broken
    assert {site.page("/consent/").status for _ in range(30)} == {200}


def test_forms_sent_while_the_database_is_away_change_nothing_and_work_afterwards(
    site: Site, gate: Gate | None, person: Any
) -> None:
    consent_request = factories.ConsentRequestFactory(user=person)
    path = reverse("consent:deny", args=[consent_request.request_id])
    token = "t" * 32
    form = {
        "Cookie": f"{site.cookie}; __Host-csrftoken={token}",
        "Content_Type": "application/x-www-form-urlencoded",
        "Origin": "https://localhost",
    }
    sign_in = f"csrfmiddlewaretoken={token}&login={person.email}&password=wrong".encode()
    with refused(gate):
        answers = [
            site.call("POST", path, body=f"csrfmiddlewaretoken={token}".encode(), **form),
            site.call("POST", "/accounts/login/", body=sign_in, **{**form, "Cookie": f"__Host-csrftoken={token}"}),
        ]
    for answer in answers:
        assert answer.status == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert "sessionid" not in answer.headers.get("Set-Cookie", "")  # the session is kept
    site.wait_until_back()
    consent_request.refresh_from_db()
    assert consent_request.status == "pending"
    assert site.call("POST", path, body=f"csrfmiddlewaretoken={token}".encode(), **form).status == 302
    consent_request.refresh_from_db()
    assert consent_request.status == "denied"


@pytest.mark.sqlite
def test_a_file_that_is_no_database_is_a_database_that_is_away(site: Site) -> None:
    with refused(None, garbage=True):
        status, body = site.ready()
        assert (status, body["checks"]["database"]) == (503, False)
        assert site.page("/consent/").status == 503
    assert_back(site)


def test_a_database_that_says_nothing_is_away_too(site: Site, gate: Gate | None) -> None:
    if gate is None:
        pytest.skip("SQLite's file says something or is not there")
    assert site.page("/consent/").status == 200
    gate.be_silent()
    status, body = site.ready()
    assert (status, body["checks"]["database"]) == (503, False)
    assert site.page("/consent/").status == 503  # on a connection that takes the question and never answers
    for path in ("/consent/", "/accounts/login/", "/vault/keys", "/api/v1/scope-catalog", "/readyz"):
        answer = site.call("GET", path, Cookie=site.cookie, Authorization=site.token)
        assert (path, answer.status) == (path, 503)
    gate.open()
    assert_back(site)


def test_many_who_call_at_once_do_not_keep_readyz_from_answering(site: Site, gate: Gate | None) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with refused(gate), ThreadPoolExecutor(60) as pool:
        site.wait_until_away()
        # more than the server has threads
        calls = [pool.submit(site.page, "/consent/") for _ in range(60)]
        status, _ = site.ready()
        answers = [call.result() for call in calls]
    assert {answer.status for answer in answers} == {status} == {503}
    assert_back(site)


def test_a_database_that_is_known_to_be_away_is_asked_for_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """So nobody waits for one, and the threads of the server are free to say so."""
    from django.db.backends.postgresql import base as djangos

    from config.postgresql import base

    monkeypatch.setattr(djangos.DatabaseWrapper, "get_new_connection", lambda *_: pytest.fail("it was asked"))
    monkeypatch.setattr(base.watch, "is_away", True)
    with pytest.raises(psycopg.OperationalError, match="the database is away"):
        base.DatabaseWrapper({}).get_new_connection({})


@pytest.mark.parametrize("how", ["refuse", "be_silent"])
def test_without_its_broker_it_is_ready_and_says_what_is_missing(
    how: str, gate: Gate | None, person: Any, app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not deployed.REDIS_URL:
        pytest.skip("the broker is a folder here")
    monkeypatch.setattr(heartbeats, "DEAD_AFTER", 3600.0)  # no worker and no timer run beside this server
    for part in ("worker", "timer"):
        heartbeats.beat(part)
    host, port = deployed.REDIS_URL.removeprefix("redis://").partition("/")[0].split(":")
    broker = Gate((host, int(port)))
    url = deployed.REDIS_URL.replace(f"{host}:{port}", f"127.0.0.1:{broker.port}")
    with served(gate, REDIS_URL=url) as server:
        site = Site(server, person, app)
        found = {"status": "ok", "degraded": [], "checks": ALL}
        eventually(lambda: site.ready() == (200, found), "all of it")
        getattr(broker, how)()
        found = {"status": "ok", "degraded": ["broker"], "checks": {**ALL, "broker": False}}
        eventually(lambda: site.ready() == (200, found), "an answer without the broker")
        assert site.call("GET", "/api/v1/scope-catalog", Authorization=site.token).status == 200
        assert_an_act_goes_through(site, person)
        broker.open()
        # what the act left for the log may wait for a sequencer, which does not run here either
        eventually(lambda: set(site.ready()[1]["degraded"]) <= {"log"}, "the broker")
    broker.close()


ALL = dict.fromkeys(("database", "migrations", "rules", "audit", "worker", "timer", "log", "broker"), True)


def assert_an_act_goes_through(site: Site, person: Any) -> None:
    """What tells the worker leaves a row, which the worker's own sweep finds; nobody waits for the broker."""
    from agents_proxy.analyses.models import Run
    from tests.agents_proxy.proxy_calls import owning

    owning(person)
    token = "t" * 32
    body = {"email": person.email, "fullName": "Ada Lovelace", "countryCode": "+49", "phoneNumber": "15112345678"}
    answer = site.call(
        "POST", "/api/a2a/analyses", body=json.dumps({**body, "agreed": True}).encode(),
        Cookie=f"{site.cookie}; __Host-csrftoken={token}", X_CSRFToken=token, Origin="https://localhost",
    )  # fmt: skip
    assert answer.status == 202, answer.body
    assert Run.objects.get(user=person).status == "queued"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="it starts two PostgreSQL of its own")
def test_a_promoted_standby_takes_over_where_the_address_names_both() -> None:
    first = Cluster()
    with ExitStack() as stack:
        stack.callback(first.remove)
        second = Cluster.standby(first)
        stack.callback(second.remove)
        # the standby first, so that it is passed over while it cannot be written to
        hosts = f"127.0.0.1:{second.port},127.0.0.1:{first.port}"
        process = stack.enter_context(writing(f"postgres://chaos@{hosts}/postgres?target_session_attrs=read-write"))
        assert wrote(process) == str(first.port)
        eventually(lambda: second.query_row("SELECT to_regclass('kept') IS NOT NULL") == (True,), "the table")
        eventually(lambda: second.query_row("SELECT count(*) FROM kept") == (1,), "the row at the standby")

        first.stop()
        assert not wrote(process).isdigit()
        second.promote()

        eventually(lambda: wrote(process) == f"{first.port},{second.port}", "the standby's turn")


@contextmanager
def writing(address: str) -> Iterator[subprocess.Popen[str]]:
    """A process with the service's settings, which writes where this address leads when a line tells it to."""
    env = {**os.environ, **fresh_secrets(), "DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": address}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.communicate()


def wrote(process: subprocess.Popen[str]) -> str:
    """The ports that were written at, or the error's name."""
    assert process.stdin is not None
    assert process.stdout is not None
    print("write", file=process.stdin, flush=True)
    return process.stdout.readline().strip()
