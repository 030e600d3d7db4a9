"""A consent token at the addresses of analyses: what it may call, what it sees, and how it ends."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import BODY, finished
from tests.callers import JsonClient
from tests.factories import AppFactory, PersonFactory

pytestmark = pytest.mark.django_db

ANALYSES = "/api/a2a/analyses"
SITE = "https://trips.example"
ALL = (Purpose.PROFILE, Purpose.ENRICHMENT, Purpose.BRAND_AFFINITY)


@pytest.fixture
def shop(db: None) -> App:
    made: App = AppFactory(name="Trip Planner", origins=[SITE])
    return made


@pytest.fixture
def token(person: User, shop: App) -> str:
    return token_of(person, shop, purposes=ALL)


@pytest.fixture
def enterprise(token: str) -> JsonClient:
    return backend(token)


def refused(answer: Any) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def started(client: JsonClient) -> str:
    answer = client.post(ANALYSES, BODY)
    assert answer.status_code == 202, answer.content
    return str(answer.json()["analysisId"])


def test_a_token_starts_reads_and_deletes(
    enterprise: JsonClient, owner: JsonClient, person: User, agents: Agents
) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    analysis_id = started(enterprise)
    run = Run.objects.get()
    assert (run.user, run.consent) == (person, ProcessingConsent.objects.get())
    steps.run_through(run.pk)

    here = f"{ANALYSES}/{analysis_id}"
    assert enterprise.get(here).json()["profile"] == {"likes": ["Muji"]}
    assert enterprise.get(f"{here}/raw").json()["input"]["email"] == BODY["email"]
    [listed] = enterprise.get(ANALYSES).json()["analyses"]
    assert (listed["analysisId"], listed["app"]) == (analysis_id, "Trip Planner")
    assert refused(enterprise.post(f"{here}/cancel")) == (409, "analysis_ended")
    assert refused(enterprise.post(f"{here}/steps/brand/retry")) == (409, "step_not_failed")
    assert owner.get(ANALYSES).json()["analyses"] == [listed]

    assert enterprise.delete(here).status_code == 204
    assert not Run.objects.exists()
    assert consents.is_live(ProcessingConsent.objects.get())


def test_a_token_sees_only_what_was_made_with_it(
    enterprise: JsonClient, person: User, shop: App, agents: Agents
) -> None:
    own, other = finished(person), started(backend(token_of(person, shop, purposes=ALL)))
    assert enterprise.get(ANALYSES).json()["analyses"] == []
    for analysis_id in (own.analysis_id, other):
        here = f"{ANALYSES}/{analysis_id}"
        for answer in (
            enterprise.get(here),
            enterprise.get(f"{here}/raw"),
            enterprise.post(f"{here}/cancel"),
            enterprise.post(f"{here}/steps/brand/retry"),
            enterprise.get(f"{here}/activations"),
            enterprise.delete(here),
        ):
            assert refused(answer) == (404, "unknown_analysis")


@pytest.mark.parametrize("lacking", ALL)
def test_starting_needs_every_purpose(person: User, shop: App, lacking: Purpose) -> None:
    client = backend(token_of(person, shop, purposes=[purpose for purpose in ALL if purpose != lacking]))
    answer = client.post(ANALYSES, BODY)

    assert refused(answer) == (403, "consent_required")
    assert answer.json()["consent_url"] == f"http://localhost:8000/profile/consent/?purposes={lacking}"
    assert client.get(ANALYSES).status_code == 200
    assert not Run.objects.exists()


def test_a_suspended_app_is_asked_nothing_for(enterprise: JsonClient, shop: App, agents: Agents) -> None:
    started(enterprise)
    App.objects.filter(pk=shop.pk).update(status="suspended")

    assert refused(enterprise.get(ANALYSES)) == (403, "consent_required")
    steps.run_through(Run.objects.get().pk)
    assert agents.requests == []


def test_a_page_of_a_registered_origin_may_read_the_answer(token: str) -> None:
    page = JsonClient(Client(), headers={"Origin": SITE, "A2A-Consent": token})
    preflight = page.send("OPTIONS", ANALYSES, headers={"Access-Control-Request-Method": "POST"})
    listed = page.get(ANALYSES)

    assert preflight.status_code == 204
    assert preflight["Access-Control-Allow-Origin"] == listed["Access-Control-Allow-Origin"] == SITE
    assert "POST" in preflight["Access-Control-Allow-Methods"]
    assert "A2A-Consent" in preflight["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in listed


def test_other_origins_and_bare_options_are_refused(enterprise: JsonClient, token: str, person: User) -> None:
    assert refused(enterprise.get(ANALYSES, headers={"Origin": "https://evil.example"})) == (403, "origin_refused")
    assert refused(enterprise.get(ANALYSES, headers={"Origin": "http://testserver"})) == (403, "consent_required")
    other = AppFactory(origins=["https://other.example"])
    assert refused(enterprise.get(ANALYSES, headers={"Origin": other.origins[0]})) == (403, "consent_required")
    assert refused(enterprise.send("OPTIONS", ANALYSES)) == (405, "method_not_allowed")


def test_a_page_of_another_site_never_acts_with_a_session(owner: JsonClient, shop: App) -> None:
    answer = owner.get(ANALYSES, headers={"Origin": SITE})
    assert refused(answer) == (403, "consent_required")
    assert answer["Access-Control-Allow-Origin"] == SITE


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "a" * 5000])
def test_a_token_that_nobody_gave(token: str) -> None:
    assert refused(backend(token).get(ANALYSES)) == (403, "consent_required")


def test_a_token_of_one_person_never_reaches_another(enterprise: JsonClient, shop: App, agents: Agents) -> None:
    run = finished(PersonFactory())
    assert refused(enterprise.get(f"{ANALYSES}/{run.analysis_id}")) == (404, "unknown_analysis")


@pytest.mark.parametrize("body", [{}, {**BODY, "agreed": False}, {**BODY, "email": "x"}, {**BODY, "more": 1}])
def test_bad_input_is_refused(enterprise: JsonClient, body: dict[str, Any]) -> None:
    assert refused(enterprise.post(ANALYSES, body)) == (400, "invalid_request")
