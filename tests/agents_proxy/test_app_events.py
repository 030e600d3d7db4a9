"""What a company hears of family B: in its app's one sequence, and never about a person."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook

from accounts.models import User
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.deletions.models import Deletion
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from common import encryption
from consent.decisions import actions as decision_actions
from consent.notices.models import Notice, WebhookDelivery
from consent.notices.webhooks import deliver_due
from developers.app_events import ProcessingEvent
from developers.models import App, WebhookEndpoint
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.forgetting import Forgetting, attempt
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import BODY, started
from tests.factories import ConsentRequestFactory
from tests.factories.agents import ProcessingConsentFactory
from tests.fakes.crm import Crm
from tests.fakes.receiver import Receiver, receiving

pytestmark = pytest.mark.django_db(transaction=True)  # deliveries are made in threads, each with its connection

FOUR = ("brand", "core", "public", "second")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def company(settings: Any, shop: App) -> Iterator[Receiver]:
    """The shop's own server, which wants to hear of everything."""
    with receiving(settings) as server:
        WebhookEndpoint.objects.create(app=shop, url=server.url, secret=encryption.sealed(SECRET))
        yield server


def heard(company: Receiver) -> list[dict[str, Any]]:
    """Everything that arrived, in the order of its numbers, as a library of Standard Webhooks alone reads it."""
    deliver_due()
    messages = [Webhook(SECRET).verify(body, headers) for headers, body in company.arrived]
    return sorted(messages, key=lambda message: message["data"]["sequence"])


def analysed(enterprise: Any) -> str:
    answer = enterprise.post("/api/a2a/analyses", BODY)
    steps.run_through(Run.objects.get(analysis_id=answer.json()["analysisId"]).pk)
    return str(answer.json()["analysisId"])


def send(enterprise: Any, analysis_id: str, destination: Destination) -> str:
    body = {"destinationId": destination.destination_id, "sending": Activation.objects.count()}
    answer = enterprise.post(f"/api/a2a/analyses/{analysis_id}/activations", body)
    return str(answer.json()["activationId"])


def test_a_receiver_of_standard_webhooks_hears_of_all_eight(
    person: User, shop: App, company: Receiver, agents: Agents, there: Forgetting, crm: type[Crm],
    destination: Destination,
) -> None:  # fmt: skip
    enterprise = backend(token_of(person, shop, destination))
    consent_id = ProcessingConsent.objects.get().consent_id
    agents.replies = {agent: {"likes": ["Muji"]} for agent in FOUR}
    completed = analysed(enterprise)
    delivered = send(enterprise, completed, destination)  # and the worker takes it there at once
    agents.replies = dict.fromkeys(FOUR, "no profile at all")
    failed = analysed(enterprise)
    crm.status = 503
    waiting = send(enterprise, completed, destination)
    ran_out = ProcessingConsentFactory(
        site=True, app=shop, given_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(hours=1)
    )
    assert (consents.write_down_expiry(), consents.write_down_expiry()) == (1, 0)
    crm.status, there.reply = 204, (204, b"")
    consents.withdraw(consent_id=consent_id, by=person)
    attempt()
    deleted = Deletion.objects.get(agent="brand").deletion_id

    messages = heard(company)
    events = [(message["type"], message["data"]) for message in messages]
    nothing = {"analysis_id": None, "activation_id": None, "deletion_id": None}
    of_this = {"consent_id": consent_id, **nothing}
    expected = [
        ("processing_consent.given", {**of_this, "status": "live"}),
        ("analysis.completed", {**of_this, "analysis_id": completed, "status": "completed"}),
        (
            "activation.delivered",
            {**of_this, "analysis_id": completed, "activation_id": delivered, "status": "delivered"},
        ),
        ("analysis.failed", {**of_this, "analysis_id": failed, "status": "failed"}),
        ("processing_consent.expired", {"consent_id": ran_out.consent_id, **nothing, "status": "expired"}),
        ("activation.failed", {**of_this, "analysis_id": completed, "activation_id": waiting, "status": "failed"}),
        ("processing_consent.withdrawn", {**of_this, "status": "withdrawn"}),
    ]
    assert events[:7] == [(name, {**data, "sequence": at}) for at, (name, data) in enumerate(expected, 1)]
    assert {name for name, _ in events[7:]} == {"deletion.confirmed"}
    assert {**of_this, "deletion_id": deleted, "status": "confirmed", "sequence": 8} in [data for _, data in events[7:]]
    assert {name for name, _ in events} == set(ProcessingEvent)
    assert "ana@" not in json.dumps(messages)


def test_what_is_a_persons_own_is_told_to_nobody(person: User, shop: App, agents: Agents) -> None:
    run = started(person)
    steps.run_through(run.pk)
    consents.give(by=person, purposes=[Purpose.PROFILE])
    analysis_actions.delete_analysis(by=person, analysis_id=run.analysis_id)

    assert not Notice.objects.exists()


def test_both_families_count_in_one_sequence_and_an_endpoint_gets_the_types_that_it_wants(
    person: User, shop: App
) -> None:
    wanted = {"url": "https://trips.example/hook", "secret": "x", "types": ["processing_consent.given"]}
    endpoint = WebhookEndpoint.objects.create(app=shop, **wanted)
    request = ConsentRequestFactory(app=shop)
    decision_actions.deny(request_id=request.request_id, by=request.user)
    token_of(person, shop, purposes=[Purpose.PROFILE])

    kept = Notice.objects.filter(app=shop).order_by("sequence").values_list("sequence", "kind", "request")
    assert list(kept) == [(1, "consent.denied", request.pk), (2, "processing_consent.given", None)]
    assert WebhookDelivery.objects.get(endpoint=endpoint).notice.sequence == 2


def test_what_does_not_take_place_is_not_told(person: User, shop: App, monkeypatch: pytest.MonkeyPatch) -> None:
    token_of(person, shop, purposes=[Purpose.PROFILE])
    consent = ProcessingConsent.objects.get()

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(consents, "notify_withdrawn", broken)
    with pytest.raises(RuntimeError):
        consents.withdraw(consent_id=consent.consent_id, by=person)

    assert ProcessingConsent.objects.get().withdrawn_at is None
    assert list(Notice.objects.values_list("kind", flat=True)) == ["processing_consent.given"]
