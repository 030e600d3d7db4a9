"""The service behind PgBouncer in transaction mode: every answer is the caller's own, and none is missing."""

import http.client
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from consent.decisions.actions import deny
from consent.notices import long_polling
from consent_bridge import sealed
from tests import factories
from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.factories import known_as
from tests.fakes import pooler
from tests.patience import MOST_SECONDS, eventually
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
    user_id = known_as(api.app, person)
    kind = made.choice(("discovery", "status", "read", "ask", "nobody"))
    if kind == "discovery":
        return Call(api.token, "GET", f"user-scopes/{user_id}", None, 200, {"user_id": user_id})
    if kind == "status":
        wanted = {"request_id": request.request_id, "status": "pending"}
        return Call(api.token, "GET", f"consent-status?request_id={request.request_id}", None, 200, wanted)
    if kind == "read":
        of = export.grant.request.request_id
        return Call(api.token, "GET", f"consent-export?request_id={of}", None, 200, {"export_id": export.export_id})
    if kind == "ask":
        key = sealed.public_half(sealed.generate_connector_key())
        body = request_body(person, connector_public_key=key)
        return Call(api.token, "POST", "request-consent", body, 201, {"status": "pending"})
    return Call(f"{api.token}x", "GET", f"user-scopes/{user_id}", None, 401, {"code": "invalid_token"})


def wrong_among(calls: list[Call], servers: list[Served]) -> Counter[str]:
    """What came back that should not have, over kept-alive connections to all servers."""

    def send(number: int) -> Counter[str]:
        wrong: Counter[str] = Counter()
        line = http.client.HTTPConnection("localhost", servers[number % len(servers)].port, timeout=60)
        for call in calls[number::CLIENTS]:
            headers = {"Authorization": f"Bearer {call.token}", "Content-Type": "application/json"}
            line.request(call.method, f"/api/v1/{call.path}", json.dumps(call.body) if call.body else None, headers)
            answer = line.getresponse()
            body = json.loads(answer.read())
            if answer.status != call.status or not call.members.items() <= body.items():
                wrong[f"{call.method} {call.path.partition('?')[0].partition('/')[0]} {answer.status}"] += 1
        line.close()
        return wrong

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(clients.map(send, range(CLIENTS)), Counter())


@pytest.mark.long("10,000 calls; in short 600")
def test_mixed_calls_are_answered_as_without_a_pooler(servers: list[Served], long_form: bool) -> None:
    assert wrong_among(calls_of(10_000 if long_form else 600), servers) == {}


def test_the_check_says_what_the_settings_do_not_know(pooled: str) -> None:
    assert "config.W002" in checked(DATABASE_URL=pooled)
    assert "config.W" not in checked(DATABASE_URL=pooled, DATABASE_LISTEN_URL=database_url())


def checked(**own_settings: str) -> str:
    command = [sys.executable, "manage.py", "check", "--database", "default"]
    kept = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.served_settings", "CONSENT_VAR": str(settings.VAR)}
    done = subprocess.run(command, cwd=ROOT, env={**kept, **own_settings}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_connections_to_postgresql_itself_prepare_their_statements(db: None) -> None:
    connection.ensure_connection()

    assert connection.connection.prepare_threshold == 2


@pytest.mark.parametrize("past_the_pooler", [True, False], ids=["told", "not told"])
def test_a_held_answer_hears_of_a_decision(
    pooled: str, past_the_pooler: bool, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATABASE_LISTEN_URL = database_url() if past_the_pooler else ""
    if not past_the_pooler:
        monkeypatch.setattr(long_polling, "listeners_address", lambda: {"conninfo": pooled})
    long_polling._log_pooler.cache_clear()
    request, hub = factories.ConsentRequestFactory(), long_polling._Hub()
    with hub.subscribed_to(f"request:{request.request_id}", app_pk=request.app_id) as heard:
        assert heard.wait(MOST_SECONDS)  # whoever waits is woken once as the listener begins
        heard.clear()
        deny(request_id=request.request_id, by=request.user)
        assert heard.wait(MOST_SECONDS)
    eventually(hub.is_silent, "the end of the listener")

    was_logged = long_polling._log_pooler.cache_info().currsize == 1
    assert was_logged is not past_the_pooler
