"""Sendings that are replayed, asked for by the wrong ones, or asked for a hundred times."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from agents_proxy import tasks
from agents_proxy.activations import deliveries
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.states import ActivationStatus
from common.clock import database_now
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.receivers import backend, deliver, receiving, token_of
from tests.agents_proxy.runs import BODY, body_of, finished
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db

ANALYSES = "/api/a2a/analyses"


@pytest.fixture
def enterprise(person: User, shop: App, destination: Destination, agents: Agents) -> JsonClient:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    return backend(token_of(person, shop, destination))


@pytest.fixture
def here(enterprise: JsonClient) -> str:
    """Where the sendings of an analysis are that was made with the token."""
    analysis_id = enterprise.post(ANALYSES, BODY).json()["analysisId"]
    steps.run_through(Run.objects.get().pk)
    return f"{ANALYSES}/{analysis_id}/activations"


@pytest.fixture
def body(destination: Destination) -> dict[str, Any]:
    return {"destinationId": destination.destination_id}


def budgets(settings: Any, **changed: int) -> None:
    settings.A2A_BUDGETS = {**settings.A2A_BUDGETS, **changed}


def refused(answer: Any) -> tuple[int, str]:
    assert answer["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def test_a_replay_is_answered_with_the_first_and_sends_nothing(
    enterprise: JsonClient, here: str, body: dict[str, Any], crm: type[Crm]
) -> None:
    key = {"Idempotency-Key": "one-key-of-the-caller"}
    first = enterprise.post(here, body, headers=key).json()
    deliver()
    again = [enterprise.post(here, body, headers=headers) for headers in (key, {"Idempotency-Key": "another"}, {})]
    deliver()

    assert [answer.status_code for answer in again] == [202] * 3
    assert [answer.json() for answer in again] == [{**first, "status": "delivered"}] * 3
    assert len(crm.got) == 1


def test_a_replay_spends_nothing(
    enterprise: JsonClient, here: str, body: dict[str, Any], crm: type[Crm], settings: Any
) -> None:
    budgets(settings, ACTIVATIONS_PER_PERSON_PER_HOUR=2)
    answers = [enterprise.post(here, body) for _ in range(5)]

    assert [answer.status_code for answer in answers] == [202] * 5
    assert {answer["RateLimit"].split(";")[1] for answer in answers} == {"r=1"}


def test_an_app_sends_nothing_of_another_apps_analysis(
    here: str, person: User, settings: Any, body: dict[str, Any], crm: type[Crm]
) -> None:
    other = AppFactory(origins=["https://other.example"])
    with receiving(settings, other, "Other CRM") as (_, elsewhere):
        stranger = backend(token_of(person, other, elsewhere))
        for to in (body, {"destinationId": elsewhere.destination_id}):
            assert refused(stranger.post(here, to)) == (404, "unknown_analysis")
        assert refused(stranger.get(here)) == (404, "unknown_analysis")

        own = stranger.post(ANALYSES, BODY).json()["analysisId"]
        steps.run_through(Run.objects.get(analysis_id=own).pk)
        assert refused(stranger.post(f"{ANALYSES}/{own}/activations", body)) == (404, "unknown_destination")
    assert not Activation.objects.exists()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (403, "csrf_failed")),
        ({"X-CSRFToken": "a" * 64}, (403, "csrf_failed")),
        ({"Origin": "https://evil.example"}, (403, "origin_refused")),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, (403, "origin_refused")),
        ({"Origin": "https://trips.example"}, (403, "consent_required")),
    ],
)
def test_a_page_elsewhere_sends_nothing_with_the_persons_session(
    here: str, person: User, body: dict[str, Any], headers: dict[str, str], expected: tuple[int, str]
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person)

    assert refused(JsonClient(browser, headers=headers).post(here, body)) == expected
    assert refused(JsonClient(browser, headers=headers).post(ANALYSES, BODY)) == expected
    assert (Activation.objects.count(), Run.objects.count()) == (0, 1)


def test_a_form_of_another_page_sends_nothing(here: str, person: User, body: dict[str, Any]) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person)
    form = {"agreed": "yes", "destination": body["destinationId"], "sending": 0, "shown": ""}

    answer = browser.post(f"/profile/analyses/{Run.objects.get().analysis_id}/send/", form)
    assert answer.status_code == 403
    assert not Activation.objects.exists()


def test_of_a_hundred_sendings_the_budget_passes_and_the_rest_is_told_when_to_come_back(
    enterprise: JsonClient, here: str, body: dict[str, Any], crm: type[Crm], settings: Any
) -> None:
    budgets(settings, ACTIVATIONS_PER_PERSON_PER_HOUR=6)
    answers = [enterprise.post(here, {**body, "sending": number % 10}) for number in range(100)]

    accepted = [answer for answer in answers if answer.status_code == 202]
    refusals = [answer for answer in answers if answer.status_code == 429]
    assert len(accepted) + len(refusals) == 100
    assert Activation.objects.count() == 6
    assert {answer.json()["activationId"] for answer in accepted} == set(
        Activation.objects.values_list("activation_id", flat=True)
    )
    assert {answer.json()["code"] for answer in refusals} == {"activation_budget_spent"}
    assert all(3000 < int(answer["Retry-After"]) <= 3600 for answer in refusals)
    assert {answer["RateLimit-Policy"] for answer in answers} == {
        '"activations-per-person";q=6;w=3600, "activations-per-app";q=3000;w=3600'
    }
    assert answers[0]["RateLimit"].startswith('"activations-per-person";r=5;t=')
    assert refusals[-1]["RateLimit"].startswith('"activations-per-person";r=0;t=')
    assert '"activations-per-app";r=2994;t=' in refusals[-1]["RateLimit"]


def test_an_app_has_a_budget_for_all_its_people(
    enterprise: JsonClient, here: str, body: dict[str, Any], shop: App, destination: Destination, settings: Any
) -> None:
    budgets(settings, ACTIVATIONS_PER_APP_PER_HOUR=1)
    assert enterprise.post(here, body).status_code == 202

    other = PersonFactory()
    second = backend(token_of(other, shop, destination))
    analysis_id = second.post(ANALYSES, body_of(other)).json()["analysisId"]
    steps.run_through(Run.objects.get(analysis_id=analysis_id).pk)
    answer = second.post(f"{ANALYSES}/{analysis_id}/activations", body)
    assert refused(answer) == (429, "activation_budget_spent")
    assert "activations-per-app" in answer.json()["detail"]
    assert Activation.objects.count() == 1


def test_the_page_tells_whose_budget_is_spent(
    owner: JsonClient, person: User, agents: Agents, destination: Destination, crm: type[Crm], settings: Any
) -> None:
    budgets(settings, ACTIVATIONS_PER_PERSON_PER_HOUR=1)
    agents.replies = {"brand": {"likes": ["Muji"]}}
    page = f"/profile/analyses/{finished(person).analysis_id}/send/?destination={destination.destination_id}"
    pages = []
    for _ in range(2):
        shown = owner.client.get(page).context
        form = {"agreed": "yes", "destination": destination.destination_id, "sending": shown["number"]}
        pages.append(owner.client.post(page, {**form, "shown": shown["shown"]}, follow=True).content.decode())

    assert "It is being sent" in pages[0]
    assert "You sent too much within an hour. Nothing was sent" in pages[1]
    assert Activation.objects.count() == 1


def test_of_a_thousand_analyses_the_budget_passes(
    enterprise: JsonClient, agents: Agents, settings: Any, person: User, shop: App, destination: Destination
) -> None:
    budgets(settings, ANALYSES_PER_PERSON_PER_HOUR=3, ANALYSES_PER_APP_PER_HOUR=4)
    started = [enterprise.post(ANALYSES, BODY) for _ in range(5)]

    assert [answer.status_code for answer in started] == [202] * 3 + [429] * 2
    assert refused(started[-1]) == (429, "analysis_budget_spent")
    assert 3000 < int(started[-1]["Retry-After"]) <= 3600
    assert '"analyses-per-person";r=0;t=' in started[-1]["RateLimit"]
    assert '"analyses-per-app";r=1;t=' in started[-1]["RateLimit"]
    second = PersonFactory()
    other = backend(token_of(second, shop, destination))
    assert [other.post(ANALYSES, body_of(second)).status_code for _ in range(2)] == [202, 429]
    assert Run.objects.count() == 4


def test_another_try_of_a_step_spends_it_too(enterprise: JsonClient, agents: Agents, settings: Any) -> None:
    budgets(settings, ANALYSES_PER_PERSON_PER_HOUR=3)
    agents.replies = {"core": "sorry"}
    where = f"{ANALYSES}/{enterprise.post(ANALYSES, BODY).json()['analysisId']}"
    answers = []
    for _ in range(3):
        steps.run_through(Run.objects.get().pk)
        answers.append(enterprise.post(f"{where}/steps/core/retry"))

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert refused(answers[-1]) == (429, "analysis_budget_spent")
    assert '"analyses-per-person";r=0;t=' in answers[-1]["RateLimit"]
    assert agents.names.count("core") == 3


def test_a_budget_of_zero_is_none(
    enterprise: JsonClient, here: str, body: dict[str, Any], crm: type[Crm], settings: Any
) -> None:
    budgets(settings, ACTIVATIONS_PER_PERSON_PER_HOUR=0, ACTIVATIONS_PER_APP_PER_HOUR=0)
    answer = enterprise.post(here, body)
    assert (answer.status_code, answer.has_header("RateLimit")) == (202, False)


def test_many_sendings_of_one_app_stand_in_no_others_way(
    enterprise: JsonClient, here: str, body: dict[str, Any], destination: Destination, settings: Any, agents: Agents
) -> None:
    budgets(settings, ACTIVATIONS_PER_PERSON_PER_HOUR=0)
    for number in range(100):
        enterprise.post(here, {**body, "sending": number})
    person, other = PersonFactory(), AppFactory(origins=["https://other.example"])
    with receiving(settings, other, "Other CRM") as (crm, elsewhere):
        late = backend(token_of(person, other, elsewhere))
        analysis_id = late.post(ANALYSES, body_of(person)).json()["analysisId"]
        steps.run_through(Run.objects.get(analysis_id=analysis_id).pk)
        late.post(f"{ANALYSES}/{analysis_id}/activations", {"destinationId": elsewhere.destination_id})
        Activation.objects.update(next_attempt_at=database_now() - timedelta(minutes=1))
        last = Activation.objects.get(destination=elsewhere)
        assert last.pk == max(Activation.objects.values_list("pk", flat=True))

        assert last.pk in deliveries.due(limit=2)
        assert deliveries.due(limit=101).count(last.pk) == 1
        tasks.send_activation(last.pk)
        assert len(crm.got) == 1


def test_an_app_with_many_slow_destinations_holds_no_more_than_its_share(
    enterprise: JsonClient, here: str, shop: App, destination: Destination, person: User
) -> None:
    made = [
        destination_actions.add_destination(app=shop, name=f"Slow {n}", url=f"https://slow{n}.example/in", by=None)[0]
        for n in range(deliveries.MOST_OF_AN_APP)
    ]
    client = backend(token_of(person, shop, destination, *made))
    analysis_id = client.post(ANALYSES, BODY).json()["analysisId"]
    steps.run_through(Run.objects.get(analysis_id=analysis_id).pk)
    for one in (destination, *made):
        client.post(f"{ANALYSES}/{analysis_id}/activations", {"destinationId": one.destination_id})
    Activation.objects.update(next_attempt_at=database_now() - timedelta(minutes=1))
    under_way = {"status": ActivationStatus.SENDING, "next_attempt_at": None, "attempts": 1}
    Activation.objects.exclude(destination=destination).update(
        **under_way, lease_until=database_now() + timedelta(minutes=1)
    )
    waiting = Activation.objects.get(destination=destination)

    assert deliveries.due() == []
    deliveries.send(waiting.pk)
    assert Activation.objects.get(pk=waiting.pk).status == ActivationStatus.QUEUED
    Activation.objects.filter(destination=made[0]).update(lease_until=database_now() - timedelta(minutes=1))
    assert waiting.pk in deliveries.due()


def test_many_analyses_of_one_app_stand_in_no_others_way(
    enterprise: JsonClient, person: User, shop: App, destination: Destination, agents: Agents
) -> None:
    others = PersonFactory.create_batch(3)
    second = backend(token_of(others[0], shop, destination))
    for client, asker in ((enterprise, person), (second, others[0])):
        for _ in range(10):
            client.post(ANALYSES, body_of(asker))
    own = signed_in(others[1])
    for _ in range(3):
        own.post(ANALYSES, body_of(others[1]))
    late = signed_in(others[2]).post(ANALYSES, body_of(others[2])).json()["analysisId"]
    Run.objects.update(updated_at=database_now() - timedelta(minutes=1))

    first = list(Run.objects.filter(pk__in=steps.abandoned_runs(limit=3)).values_list("consent__app", "user"))
    assert len(set(first)) == 3
    assert [app for app, _ in first].count(shop.pk) == 1
    assert Run.objects.get(analysis_id=late).pk in steps.abandoned_runs(limit=3)
    assert len(steps.abandoned_runs()) == 24
