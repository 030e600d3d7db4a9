"""Calls, withdrawals, erasures and workers at one moment: nobody who got something is missed, nobody asked twice."""

import threading
from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts.erasure.actions import erase, order_erasure
from accounts.models import User
from agents_proxy.deletions import actions, deliveries
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import Receiver
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.processing_consent.models import ProcessingConsent
from common import limits
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
    monkeypatch.setattr("agents_proxy.deletions.actions.enqueue", lambda name, pk: None)


def calling(person: User, agent: str) -> Any:
    return partial(signed_in(person).post, f"/api/a2a/{agent}", CALL)


def test_a_withdrawal_knows_of_every_call_that_was_made(settings: Any) -> None:
    with speaking() as agents, forgetting() as there:
        there.reached_by(settings, agents)
        for _ in range(8):
            limits._paces.clear()
            person = consenting(PersonFactory())
            agents.requests.clear()
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
            limits._paces.clear()
            person = consenting(PersonFactory())
            signed_in(person).post("/api/a2a/brand", CALL)
            agents.requests.clear()
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


def test_calls_that_begin_and_end_beside_one_that_tells_more_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    consent = consenting(PersonFactory()).processing_consents.get()
    to = Receiver("https://agents.example", agent="brand")
    by_email, by_number = Identifiers(("ana@example.org",)), Identifiers((), ("+351912345678",))
    begin = partial(actions.record_disclosure, consent_pk=consent.pk, to=to)
    assert all(begin(identifiers=by_email) for _ in range(2))
    read, others = actions._subject, []

    def meanwhile(row: Deletion) -> Any:
        others.extend(threading.Thread(target=at_once, args=(act,)) for act in (
            partial(begin, identifiers=by_email), partial(begin, identifiers=by_email),
            partial(actions.record_return, consent_pk=consent.pk, to=to),
        ))  # fmt: skip
        for other in others:
            other.start()
            other.join(0.5)  # it ends now, or waits for the row
        return read(row)

    monkeypatch.setattr(actions, "_subject", meanwhile)
    assert begin(identifiers=by_number)
    for other in others:
        other.join()

    [row] = Deletion.objects.all()
    assert (row.under_way, row.has_email, row.has_number) == (4, True, True)


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
