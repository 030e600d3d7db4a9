"""The real worker and many sendings of one app: another's goes out beside them, and a withdrawal is the last word."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from agents_proxy.activations import actions as activation_actions
from agents_proxy.activations import deliveries
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from common import encryption
from common.clock import database_now
from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.receivers import receiving, token_of
from tests.agents_proxy.runs import SUBMITTED
from tests.factories import AppFactory, PersonFactory
from tests.patience import eventually
from tests.system.agents_proxy.test_worker import BROKERS, Worker

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 30


@pytest.fixture(params=BROKERS)
def worker(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> Iterator[Any]:
    """Begins once it is called; the sweeper finds what is there, since nobody is told of it."""
    monkeypatch.setattr(analysis_actions, "_tell_worker", lambda run_pk: None)
    monkeypatch.setattr(activation_actions, "tell_worker", lambda name, pk: None)
    monkeypatch.setenv("WEBHOOK_INTERNAL_ADDRESSES", "true")
    running: list[Worker] = []
    with speaking() as agents:
        yield lambda: running.append(Worker(agents, tmp_path, request.param))
        for one in running:
            one.kill()


def asked(destination: Destination, times: int) -> ProcessingConsent:
    """So many sendings of somebody's ended analysis, and the consent that they are under."""
    person = PersonFactory()
    token_of(person, destination.app, destination)
    consent = ProcessingConsent.objects.get(user=person)
    run = analysis_actions.start_analysis(by=person, submitted=SUBMITTED, under=consent.pk)
    type(run).objects.filter(pk=run.pk).update(
        status="completed_with_errors", started_at=database_now(), finished_at=database_now(),
        profile=encryption.sealed('{"likes": ["Muji"]}'), provenance={},
    )  # fmt: skip
    for number in range(times):
        activation_actions.activate(
            by=person, analysis_id=run.analysis_id, destination_id=destination.destination_id, number=number,
            under=consent.pk,
        )  # fmt: skip
    return consent


def test_many_slow_sendings_hold_up_nobody_and_end_with_their_consent(worker: Any, settings: Any) -> None:
    one, other = AppFactory(origins=["https://one.example"]), AppFactory(origins=["https://other.example"])
    with receiving(settings, one) as (slow, first), receiving(settings, other) as (quick, second):
        slow.go_on.clear()
        flooding = asked(first, MANY)
        asked(second, 1)
        worker()
        eventually(lambda: quick.got, "the quick sending")
        eventually(lambda: slow.got, "the slow sending")
        of_flood = Activation.objects.filter(consent=flooding)
        assert of_flood.filter(status="queued").count() >= MANY - deliveries.MOST_OF_AN_APP

        consents.withdraw(consent_id=flooding.consent_id, by=flooding.user)
        assert not of_flood.filter(status="queued").exists()
        slow.go_on.set()
        eventually(lambda: not of_flood.filter(finished_at=None).exists(), "the end of all sendings")

        delivered = of_flood.filter(status="delivered").count()
        assert delivered == len(slow.got) <= deliveries.MOST_OF_AN_APP
        assert of_flood.filter(status="failed", error_code="consent_ended", body=None).count() == MANY - delivered
        assert len(quick.got) == 1
    connection.close()
