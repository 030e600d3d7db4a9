"""A sending that is asked for at the same moment by several, or while its consent is withdrawn: once, or not at all."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections

from accounts.models import User
from agents_proxy.activations.models import Activation
from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.receivers import backend, deliver, receiving, token_of
from tests.agents_proxy.runs import body_of
from tests.callers import signed_in
from tests.factories import AppFactory, PersonFactory, ProcessingConsentFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),  # calls at once, each with a connection of its own
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time"),
]
ANALYSES = "/api/a2a/analyses"


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each answered, in the order in which they are given."""
    barrier, found = threading.Barrier(len(acts)), [None] * len(acts)

    def run(number: int, act: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            found[number] = act()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def analysed(token: str, person: User) -> str:
    analysis_id = backend(token).post(ANALYSES, body_of(person)).json()["analysisId"]
    steps.run_through(Run.objects.get(analysis_id=analysis_id).pk)
    return f"{ANALYSES}/{analysis_id}/activations"


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is told: each test does what one does."""
    monkeypatch.setattr(analysis_actions, "_enqueue", lambda run_pk: None)
    monkeypatch.setattr("agents_proxy.activations.actions.enqueue", lambda name, pk: None)


def test_two_calls_at_once_are_one_sending(settings: Any) -> None:
    shop = AppFactory(origins=["https://trips.example"])
    with speaking() as agents, receiving(settings, shop) as (crm, destination):
        settings.AGENTS = {**settings.AGENTS, **agents.settings()}
        agents.replies, body = {"brand": {"likes": ["Muji"]}}, {"destinationId": destination.destination_id}
        for _ in range(5):
            person = PersonFactory()
            token = token_of(person, shop, destination)
            answers = at_once(*[partial(backend(token).post, analysed(token, person), body)] * 4)

            assert [answer.status_code for answer in answers] == [202] * 4
            assert len({answer.json()["activationId"] for answer in answers}) == 1
        deliver()
    assert Activation.objects.count() == len(crm.got) == len(set(crm.ids)) == 5


def test_of_consents_that_are_given_at_once_as_many_hold_as_may() -> None:
    person = PersonFactory()
    ProcessingConsentFactory.create_batch(consents.MOST_LASTING - 1, user=person)
    owners, body = [signed_in(person) for _ in range(4)], {"purposes": ["profile"], "agreed": True}
    answers = at_once(*(partial(owner.post, "/api/a2a/consents", body) for owner in owners))

    assert sorted(answer.status_code for answer in answers) == [201, 429, 429, 429]
    assert ProcessingConsent.objects.count() == consents.MOST_LASTING


def test_a_withdrawal_at_the_same_moment_leaves_nothing_to_be_sent(settings: Any) -> None:
    shop = AppFactory(origins=["https://trips.example"])
    with speaking() as agents, receiving(settings, shop) as (crm, destination):
        settings.AGENTS = {**settings.AGENTS, **agents.settings()}
        agents.replies, body = {"brand": {"likes": ["Muji"]}}, {"destinationId": destination.destination_id}
        for _ in range(6):
            person = PersonFactory()
            token = token_of(person, shop, destination)
            given = ProcessingConsent.objects.get(user=person).consent_id
            sent, _ = at_once(
                partial(backend(token).post, analysed(token, person), body),
                partial(consents.withdraw, consent_id=given, by=person),
            )
            assert sent.status_code in (202, 403)
        deliver()
    assert crm.got == []
    assert set(Activation.objects.values_list("status", "error_code", "body")) <= {("failed", "consent_ended", None)}


def test_a_withdrawal_while_analyses_are_claimed_and_deleted_ends_them_all(settings: Any) -> None:
    shop = AppFactory(origins=["https://trips.example"])
    with speaking() as agents:
        settings.AGENTS = {**settings.AGENTS, **agents.settings()}
        for _ in range(6):
            person = PersonFactory()
            token = token_of(person, shop, purposes=ANALYSIS_PURPOSES)
            given = ProcessingConsent.objects.get(user=person).consent_id
            made = [backend(token).post(ANALYSES, body_of(person)).json()["analysisId"] for _ in range(2)]
            first, second = (Run.objects.get(analysis_id=name).pk for name in made)
            at_once(
                partial(steps.run_through, first),
                partial(steps.run_through, second),
                partial(consents.withdraw, consent_id=given, by=person),
                partial(backend(token).delete, f"{ANALYSES}/{made[0]}"),
            )
            steps.run_through(second)
            assert not Run.objects.filter(user=person, status__in=("queued", "running")).exists()
            calls_before = len(agents.requests)
            steps.run_through(second)
            assert len(agents.requests) == calls_before
