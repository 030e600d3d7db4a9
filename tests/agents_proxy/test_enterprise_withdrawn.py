"""The five steps of an enterprise with the consent withdrawn between any two of them: nothing is sent or kept after."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.activations import deliveries
from agents_proxy.activations.models import Activation
from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import upstream
from agents_proxy.proxy.envelope import Reply
from agents_proxy.proxy.models import Call
from agents_proxy.states import ActivationStatus
from common.clock import database_now
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.proxy_calls import refusal
from tests.agents_proxy.receivers import backend, deliver, token_of
from tests.agents_proxy.runs import BODY, kept, states
from tests.callers import JsonClient
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db

ANALYSES = "/api/a2a/analyses"
PROMPT = {"text": "Ana Sá, ana@example.org. She likes tea."}


@pytest.fixture
def enterprise(person: User, shop: App, destination: Destination, agents: Agents) -> JsonClient:
    """Step 1 is done: the person came back with a token for everything that the steps need."""
    agents.replies = {"brand": {"likes": ["Muji"]}, "core": {"full_name": "Ana Sá"}}
    return backend(token_of(person, shop, destination))


@pytest.fixture
def withdraw(person: User, enterprise: JsonClient) -> Callable[[], None]:
    consent_id = ProcessingConsent.objects.get().consent_id
    return lambda: consents.withdraw(consent_id=consent_id, by=person)


def analysed(enterprise: JsonClient) -> str:
    """Steps 2 to 4 in one: where the analysis is that a worker took through."""
    answer = enterprise.post(ANALYSES, BODY)
    assert answer.status_code == 202, answer.content
    steps.run_through(Run.objects.get().pk)
    return f"{ANALYSES}/{answer.json()['analysisId']}"


def refused(answer: Any) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


@pytest.mark.parametrize("agent", ["core", "public", "second", "brand"])
def test_after_the_identifiers_were_collected_no_agent_is_asked(
    enterprise: JsonClient, withdraw: Callable[[], None], agents: Agents, agent: str
) -> None:
    withdraw()

    assert refusal(enterprise.post(f"/api/a2a/{agent}", PROMPT)) == (403, -32050, "consent_required")
    assert refused(enterprise.post(ANALYSES, BODY)) == (403, "consent_required")
    assert (agents.requests, Run.objects.count(), Call.objects.count()) == ([], 0, 0)


@pytest.mark.parametrize("agent", ["core", "public", "second", "brand"])
def test_what_an_agent_answers_after_the_withdrawal_goes_to_nobody(
    enterprise: JsonClient, withdraw: Callable[[], None], agents: Agents, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    agents.replies[agent] = {"full_name": "A name that nobody is to have"}
    assert "nobody is to have" in enterprise.post(f"/api/a2a/{agent}", PROMPT).content.decode()
    original = upstream.call

    def withdrawn_meanwhile(*to: Any) -> Reply:
        answer = original(*to)
        withdraw()
        return answer

    monkeypatch.setattr(upstream, "call", withdrawn_meanwhile)
    answer = enterprise.post(f"/api/a2a/{agent}", PROMPT)

    assert refusal(answer) == (403, -32050, "consent_required")
    assert "nobody is to have" not in answer.content.decode()
    assert "/profile/consent/?purposes=" in answer.json()["error"]["data"]["consent_url"]
    assert agents.names == [agent, agent]


def test_another_consent_of_the_same_person_does_not_stand_in_for_a_token(
    enterprise: JsonClient, withdraw: Callable[[], None], person: User, agents: Agents
) -> None:
    consents.give(by=person, purposes=list(ANALYSIS_PURPOSES))
    withdraw()

    assert refusal(enterprise.post("/api/a2a/core", PROMPT)) == (403, -32050, "consent_required")
    assert agents.requests == []


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_an_analysis_ends_with_the_withdrawal_and_no_step_begins_after(
    enterprise: JsonClient, withdraw: Callable[[], None], agents: Agents, done: int
) -> None:
    here = f"{ANALYSES}/{enterprise.post(ANALYSES, BODY).json()['analysisId']}"
    run = Run.objects.get()
    for _ in range(done):
        claimed = steps.claim_step(run.pk)
        assert claimed is not None
        steps.record_step(claimed, steps._call_agent(claimed) or {})

    withdraw()  # and no worker looks at it

    assert (kept(run).status, kept(run).profile) == ("cancelled", None)
    answered = ["succeeded", "succeeded", "empty"]  # as `agents` says, of which the third knows nothing
    assert states(run) == answered[:done] + ["skipped"] * (4 - done)
    assert set(run.steps.filter(status="skipped").values_list("error_code", flat=True)) == {"consent_withdrawn"}
    steps.run_through(run.pk)
    assert steps.abandoned_runs() == []
    assert len(agents.requests) == done
    for path in ("", "/raw", "/activations"):
        assert refused(enterprise.get(f"{here}{path}")) == (403, "consent_required")


def test_after_the_profile_was_enriched_nothing_can_be_sent_or_read(
    enterprise: JsonClient, withdraw: Callable[[], None], destination: Destination, crm: type[Crm]
) -> None:
    here = analysed(enterprise)
    body = {"destinationId": destination.destination_id}
    assert enterprise.get(here).json()["profile"]["likes"] == ["Muji"]

    withdraw()

    assert refused(enterprise.post(f"{here}/activations", body)) == (403, "consent_required")
    assert refused(enterprise.get(here)) == (403, "consent_required")
    assert refused(enterprise.delete(here)) == (403, "consent_required")
    deliver()
    assert (Activation.objects.count(), crm.got) == (0, [])


@pytest.mark.parametrize("tried", [False, True])
def test_what_was_activated_and_not_sent_yet_is_gone_with_the_withdrawal(
    enterprise: JsonClient, withdraw: Callable[[], None], destination: Destination, crm: type[Crm], tried: bool
) -> None:
    here = analysed(enterprise)
    assert enterprise.post(f"{here}/activations", {"destinationId": destination.destination_id}).status_code == 202
    if tried:  # and not taken: it waits for the next attempt
        crm.status = 503
        deliver()
        crm.status = 204

    withdraw()

    ended = Activation.objects.get()  # before any worker looked at it
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, "consent_ended", None)
    deliver()
    assert (len(crm.got), deliveries.due()) == (int(tried), [])


def test_a_sending_under_way_is_not_tried_again_after_the_withdrawal(
    enterprise: JsonClient, withdraw: Callable[[], None], destination: Destination, crm: type[Crm]
) -> None:
    here = analysed(enterprise)
    enterprise.post(f"{here}/activations", {"destinationId": destination.destination_id})
    claimed = deliveries._claim(Activation.objects.get().pk)
    assert claimed is not None

    withdraw()
    deliveries._record(claimed, 503)

    ended = Activation.objects.get()
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, "consent_ended", None)
    Activation.objects.update(finished_at=database_now() - timedelta(days=1))
    deliver()
    assert crm.got == []


def test_a_sending_of_the_persons_own_ends_with_its_own_consent_alone(
    owner: JsonClient, enterprise: JsonClient, withdraw: Callable[[], None], destination: Destination, crm: type[Crm]
) -> None:
    here = analysed(enterprise)
    agreed = {"purposes": ["activation"], "destinations": [destination.destination_id], "agreed": True}
    own = owner.post("/api/a2a/consents", agreed).json()["consentId"]
    for client, number in ((enterprise, 0), (owner, 1)):
        body = {"destinationId": destination.destination_id, "sending": number}
        assert client.post(f"{here}/activations", body).status_code == 202

    withdraw()
    deliver()

    assert dict(Activation.objects.values_list("number", "status")) == {0: "failed", 1: "delivered"}
    assert owner.delete(f"/api/a2a/consents/{own}").status_code == 204
    assert json.dumps(owner.get(f"{here}/activations").json()).count("delivered") == 1
