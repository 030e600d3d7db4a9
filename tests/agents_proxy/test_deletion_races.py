"""Calls, withdrawals, erasures and workers at one moment: nobody who got something is missed, nobody asked twice."""

from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts.erasure.actions import erase, order_erasure
from accounts.models import User
from agents_proxy.deletions import deliveries
from agents_proxy.deletions.models import Deletion
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import limits as proxy_limits
from common.clock import database_now
from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.forgetting import attempt, forgetting, unchecked, withdraw
from tests.agents_proxy.proxy_calls import CALL, consenting
from tests.agents_proxy.test_activation_races import at_once
from tests.callers import signed_in
from tests.factories import PersonFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),  # calls at once, each with a connection of its own
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time"),
]


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is told: each test does what one does."""
    monkeypatch.setattr("agents_proxy.deletions.actions.tell_worker", lambda name, pk: None)


def calling(person: User, agent: str) -> Any:
    return partial(signed_in(person).post, f"/api/a2a/{agent}", CALL)


def test_a_withdrawal_knows_of_every_call_that_was_made(settings: Any) -> None:
    with speaking() as agents, forgetting() as there:
        there.reached_by(settings, agents)
        for _ in range(8):
            proxy_limits.sessions.clear()
            proxy_limits.addresses.clear()
            person = consenting(PersonFactory())
            agents.asked.clear()
            there.got.clear()
            at_once(*(calling(person, agent) for agent in ("brand", "core", "public")), partial(withdraw, person))
            called = set(agents.names)
            attempt()

            assert set(there.names) >= called
            assert len(there.names) == len(set(there.names))
            assert not Deletion.objects.filter(status="disclosed").exists()


def test_an_erasure_knows_of_every_call_that_was_made(settings: Any) -> None:
    with speaking() as agents, forgetting() as there:
        there.reached_by(settings, agents)
        for _ in range(6):
            proxy_limits.sessions.clear()
            proxy_limits.addresses.clear()
            person = consenting(PersonFactory())
            signed_in(person).post("/api/a2a/brand", CALL)
            agents.asked.clear()
            there.got.clear()
            erasure = order_erasure(of=person)
            at_once(
                calling(person, "brand"), calling(person, "core"), partial(withdraw, person),
                partial(erase, erasure_pk=erasure.pk),
            )  # fmt: skip
            assert not ProcessingConsent.objects.filter(user=person).exists()
            attempt()

            assert set(there.names) >= {"brand", *agents.names}
            assert all("consent_id" not in unchecked(statement) for _, statement, _ in there.got)


def test_of_workers_that_take_the_same_row_one_sends(settings: Any) -> None:
    with speaking() as agents, forgetting() as there:
        there.reached_by(settings, agents)
        person = consenting(PersonFactory())
        signed_in(person).post("/api/a2a/brand", CALL)
        withdraw(person)
        Deletion.objects.update(next_attempt_at=database_now())
        [row] = Deletion.objects.all()
        at_once(*[partial(deliveries.send, row.pk)] * 6)

        assert (there.names, Deletion.objects.get().status) == (["brand"], "confirmed")
