"""The service behind PgBouncer in transaction mode: every answer is the caller's own, and none is missing."""

import http.client
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from consent.decisions.actions import deny
from consent_bridge import sealed
from tests import factories
from tests.callers import Developer
from tests.consent.api.addresses import asked
from tests.fakes import pooler
from tests.forms import Form
from tests.served_site import ROOT, Served, database_url

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pooler"),
    pytest.mark.skipif(not pooler.PROGRAM, reason="PgBouncer is not installed (apt-get install pgbouncer)"),
]
APPS, PEOPLE, SERVERS, CLIENTS = 4, 24, 2, 12
LIMITS_OFF = {
    "PENDING_REQUESTS_PER_PERSON": "0", "REQUESTS_PER_PERSON_PER_DAY": "0", "REQUEST_BUDGET_PER_HOUR": "0",
    "STATUS_POLL_BURST": "100000",
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One call and what has to come back: a status, and members of the body."""

    token: str
    method: str
    path: str
    body: Any
    status: int
    members: dict[str, Any]


@pytest.fixture
def pooled() -> Iterator[str]:
    """The test database through a pooler with fewer sessions than any one process has connections."""
    with pooler.pgbouncer(database_url()) as url:
        yield url


@pytest.fixture
def servers(pooled: str) -> Iterator[list[Served]]:
    """Two processes that know nothing of the pooler."""
    with ExitStack() as after:
        yield [after.enter_context(started(DATABASE_URL=pooled, **LIMITS_OFF)) for _ in range(SERVERS)]


@contextmanager
def started(**own_settings: str) -> Iterator[Served]:
    served = Served(**own_settings)
    try:
        served.start()
        yield served
    finally:
        served.stop()
        served.close()


def calls_of(count: int) -> list[Call]:
    """Discoveries, polls, reads and new requests of several apps about several people, in any order."""
    apps = [Developer.of(factories.AppFactory()) for _ in range(APPS)]
    people = [factories.PersonFactory() for _ in range(PEOPLE)]
    for person in people:
        factories.give_vault(person)
    known = []
    for number, person in enumerate(people):
        api = apps[number % APPS]
        request = factories.ConsentRequestFactory(app=api.app, user=person)
        export = factories.ExportFactory(grant__request__app=api.app, grant__request__user=person)
        known.append((api, person, request, export))
    made = random.Random(7)
    return [_call(made, *made.choice(known)) for _ in range(count)]


def _call(made: random.Random, api: Developer, person: Any, request: Any, export: Any) -> Call:
    kind = made.choice(("discovery", "status", "read", "ask", "nobody"))
    if kind == "discovery":
        return Call(api.token, "GET", f"user-scopes/{person.public_id}", None, 200, {"user_id": person.public_id})
    if kind == "status":
        wanted = {"request_id": request.request_id, "status": "pending"}
        return Call(api.token, "GET", f"consent-status?request_id={request.request_id}", None, 200, wanted)
    if kind == "read":
        of = export.grant.request.request_id
        return Call(api.token, "GET", f"consent-export?request_id={of}", None, 200, {"export_id": export.export_id})
    if kind == "ask":
        key = sealed.public_half(sealed.generate_connector_key())
        body = asked(person, connector_public_key=key)
        return Call(api.token, "POST", "request-consent", body, 201, {"status": "pending"})
    return Call(f"{api.token}x", "GET", f"user-scopes/{person.public_id}", None, 401, {"code": "invalid_token"})


def wrong_among(calls: list[Call], servers: list[Served]) -> Counter[str]:
    """What came back that should not have, over kept-alive connections to all servers."""

    def send(number: int) -> Counter[str]:
        wrong: Counter[str] = Counter()
        line = http.client.HTTPConnection("localhost", servers[number % len(servers)].port, timeout=60)
        for call in calls[number::CLIENTS]:
            headers = {"Authorization": f"Bearer {call.token}", "Content-Type": "application/json"}
            line.request(call.method, f"/api/v1/{call.path}", json.dumps(call.body) if call.body else None, headers)
            answer = line.getresponse()
            told = json.loads(answer.read())
            if answer.status != call.status or not call.members.items() <= told.items():
                wrong[f"{call.method} {call.path.partition('?')[0].partition('/')[0]} {answer.status}"] += 1
        line.close()
        return wrong

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(clients.map(send, range(CLIENTS)), Counter())


@pytest.mark.slow("two servers start, and are asked a thousand times")
@pytest.mark.long("10,000 calls; in short 600")
def test_mixed_calls_are_answered_as_without_a_pooler(servers: list[Served], form: Form) -> None:
    assert wrong_among(calls_of(form.amount(600, 10_000)), servers) == {}


@pytest.mark.slow("manage.py starts twice, through a pooler each time")
def test_the_check_says_what_the_settings_do_not_know(pooled: str) -> None:
    told = {"DATABASE_PREPARE": "false", "DATABASE_LISTEN_URL": database_url()}

    assert [name for name in ("config.W001", "config.W002") if name in checked(DATABASE_URL=pooled)] == [
        "config.W001", "config.W002",
    ]  # fmt: skip
    assert "config.W" not in checked(DATABASE_URL=pooled, **told)


def checked(**own_settings: str) -> str:
    command = [sys.executable, "manage.py", "check", "--database", "default"]
    kept = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.served_settings", "CONSENT_VAR": str(settings.VAR)}
    done = subprocess.run(command, cwd=ROOT, env={**kept, **own_settings}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_connections_to_postgresql_itself_prepare_their_statements(db: None) -> None:
    connection.ensure_connection()

    assert connection.connection.prepare_threshold == 2


@pytest.mark.slow("a server starts, and calls are held at it half a second each")
@pytest.mark.parametrize("past_the_pooler", [True, False], ids=["told", "not told"])
@pytest.mark.long("40 decisions, half of them heard of within 100 ms; in short three, in any time below a look again")
def test_a_held_answer_hears_of_a_decision(pooled: str, past_the_pooler: bool, form: Form) -> None:
    own = {"DATABASE_LISTEN_URL": database_url()} if past_the_pooler else {}
    api = Developer.of(factories.AppFactory())
    with started(DATABASE_URL=pooled, DATABASE_PREPARE="false", **own, **LIMITS_OFF) as served:
        took = [heard_after(api, served) for _ in range(form.amount(3, 40))]
        assert ("notices are polled" in served.log()) is not past_the_pooler

    assert max(took) < 4  # a waiter looks again after five seconds, and these heard of it
    if form.long:
        assert median(took) < 0.1


def heard_after(api: Developer, served: Served) -> float:
    """Seconds from a denial, committed, to the answer of a call that was held meanwhile."""
    request = factories.ConsentRequestFactory(app=api.app)
    line = http.client.HTTPConnection("localhost", served.port, timeout=60)
    path = f"/api/v1/consent-status?request_id={request.request_id}&wait=30"
    line.request("GET", path, headers={"Authorization": f"Bearer {api.token}"})
    time.sleep(0.5)  # it is held by then
    deny(request_id=request.request_id, by=request.user)
    began = time.monotonic()
    told = json.loads(line.getresponse().read())
    took = time.monotonic() - began
    line.close()
    assert told["status"] == "denied"
    return took
