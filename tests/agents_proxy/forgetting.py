"""Receivers of requests to delete, on a real HTTP server, and the worker's part in sending them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import ThreadingHTTPServer
from typing import Any

from django.db import connection
from django.test import Client
from joserfc import jws
from joserfc.jwk import KeySet

from accounts.models import User
from agents_proxy.deletions import deliveries
from agents_proxy.deletions.messages import JWS_TYPE
from agents_proxy.deletions.models import Deletion
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.rules import RULES
from agents_proxy.states import DeletionStatus
from common.clock import database_now
from common.sql.triggers import lifted
from tests.agents_proxy.agent_server import Agents
from tests.callers import JsonClient
from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS

KEYS = "/.well-known/consent-assertion-keys.json"
Answer = tuple[int, bytes]


@dataclass
class Forgetting:
    """`reply` is what is answered to every request: status and body, or a function of the agent and the claims.

    `got` is (agent, JWS, headers) as it came. What waits for `go_on` hangs until a test lets it.
    """

    reply: Answer | Callable[[str, dict[str, Any]], Answer] = (200, b'{"deleted": 1}')
    got: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    address: str = ""
    go_on: threading.Event = field(default_factory=threading.Event)

    @property
    def names(self) -> list[str]:
        return [agent for agent, _, _ in self.got]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """As a receiver checks them: with the published keys."""
        return [claims_of(statement) for _, statement, _ in self.got]

    def reached_by(self, settings: Any, agents: Agents, *names: str) -> None:
        """The agents of these names take requests to delete here; all of them without names."""
        known = agents.settings()
        for name in names or known:
            known[name]["delete_url"] = f"{self.address}/{name}"
        settings.AGENTS = {**settings.AGENTS, **known}


@contextmanager
def forgetting() -> Iterator[Forgetting]:
    """One that listens until the block ends."""
    found = Forgetting()
    found.go_on.set()

    class Handler(Answering):
        def post(self) -> None:
            agent, statement = self.path.strip("/"), self.body().decode()
            found.got.append((agent, statement, {name.lower(): value for name, value in self.headers.items()}))
            found.go_on.wait(MOST_SECONDS)
            status, body = found.reply(agent, unchecked(statement)) if callable(found.reply) else found.reply
            self.answer(status, body)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as found.address:
        yield found
        found.go_on.set()


def unchecked(statement: str) -> dict[str, Any]:
    """The claims of a JWS that nobody verified."""
    claims: dict[str, Any] = json.loads(jws.extract_compact(statement.encode()).payload)
    return claims


def claims_of(statement: str, *, kind: str = JWS_TYPE) -> dict[str, Any]:
    """The claims of a request to delete, or of another statement of this service, verified."""
    keys = KeySet.import_key_set(JsonClient(Client()).get(KEYS).json())
    checked = jws.deserialize_compact(statement, keys, algorithms=["EdDSA"])
    assert checked.headers()["typ"] == kind
    claims: dict[str, Any] = json.loads(checked.payload)
    return claims


def attempt() -> None:
    """What the worker does once every pause is over."""
    waiting = Deletion.objects.filter(status=DeletionStatus.QUEUED)
    waiting.update(next_attempt_at=database_now() - timedelta(seconds=3))
    for deletion_pk in waiting.order_by("pk").values_list("pk", flat=True):
        deliveries.send(deletion_pk)


def states() -> dict[str, tuple[str, str]]:
    """Where each receiver stands: {agent or destination: (status, error)}."""
    rows = Deletion.objects.select_related("destination").order_by("pk")
    return {
        row.agent or (row.destination.name if row.destination else ""): (row.status, row.error_code) for row in rows
    }


def withdraw(person: User) -> None:
    """Everything that this person agreed to."""
    for consent in ProcessingConsent.objects.filter(user=person):
        consents.withdraw(consent_id=consent.consent_id, by=person)


def as_if_requested(ago: timedelta) -> None:
    """Make every request as old as that; otherwise the database lets nobody write another time."""
    connection.check_constraints()  # PostgreSQL alters no table that has checks to come
    with lifted(connection, [rule for rule in RULES if rule.table == "deletions"]):
        Deletion.objects.filter(requested_at__isnull=False).update(requested_at=database_now() - ago)
