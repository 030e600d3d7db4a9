"""Sending by program: under a consent token that names the destination, or under a consent of one's own."""

import json
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.activations import actions as activation_actions
from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from common import encryption
from common.clock import database_now
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.institutions import coffees, linked, refreshed
from tests.agents_proxy.proxy_calls import AGREED
from tests.agents_proxy.receivers import backend, deliver, token_of
from tests.agents_proxy.runs import BODY, SUBMITTED, finished
from tests.callers import JsonClient
from tests.factories import AppFactory
from tests.fakes.aggregator import Aggregator
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db


def test_a_token_that_names_the_destination_sends_and_reads_the_state(
    person: User, shop: App, agents: Agents, crm: type[Crm], destination: Destination
) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    client = backend(token_of(person, shop, destination))
    consent = ProcessingConsent.objects.get()
    run = Run.objects.get(pk=finished(person).pk)
    made = analysis_actions.start_analysis(by=person, submitted=SUBMITTED, under=consent.pk)
    Run.objects.filter(pk=made.pk).update(
        status="completed_with_errors", started_at=database_now(), finished_at=database_now(),
        profile=encryption.sealed('{"likes": ["Muji"]}'), provenance={},
    )  # fmt: skip
    here = f"/api/a2a/analyses/{made.analysis_id}/activations"
    body = {"destinationId": destination.destination_id}

    first = client.post(here, body)
    again = client.post(here, body)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    accepted = first.json()
    assert accepted.keys() == {"activationId", "status", "statusUrl"}
    assert (accepted["status"], accepted["statusUrl"], first["Location"]) == (
        "queued", f"{here}/{accepted['activationId']}", accepted["statusUrl"],
    )  # fmt: skip
    deliver()
    state = client.get(accepted["statusUrl"]).json()
    assert (state["status"], state["attempts"], state["statusCode"]) == ("delivered", 1, 204)
    assert client.get(here).json() == {"activations": [state]}
    assert [sent["data"]["profile"] for sent in crm.got] == [{"likes": ["Muji"]}]
    assert client.post(f"/api/a2a/analyses/{run.analysis_id}/activations", body).status_code == 404  # the person's own


def test_destinations_are_those_of_the_tokens_app(
    person: User, shop: App, crm: type[Crm], destination: Destination, settings: Any
) -> None:
    second, _ = destination_actions.add_destination(app=shop, name="Mail", url="https://mail.example/in", by=None)
    destination_actions.add_destination(app=AppFactory(), name="Other", url="https://other.example/in", by=None)
    found = backend(token_of(person, shop, destination)).get("/api/a2a/destinations").json()["destinations"]

    assert [(one["destinationId"], one["name"], one["agreed"]) for one in found] == [
        (destination.destination_id, "Trips CRM", True),
        (second.destination_id, "Mail", False),
    ]
    assert found[1]["host"] == "mail.example"


def test_a_persons_own_consent_that_names_a_destination_sends_too(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    here = f"/api/a2a/analyses/{liking.analysis_id}/activations"
    body = {"destinationId": destination.destination_id}
    refused = owner.post(here, body)
    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    assert destination.destination_id in refused.json()["consent_url"]

    given = owner.post(
        "/api/a2a/consents",
        {"purposes": ["activation"], "destinations": [destination.destination_id], "agreed": True},
    )
    assert given.status_code == 201
    assert destination.described in ProcessingConsent.objects.get(purposes=["activation"]).statement
    assert owner.post(here, body).status_code == 202


@pytest.mark.parametrize(
    "body",
    [
        {"purposes": ["activation"], "agreed": True},
        {"purposes": ["profile"], "destinations": ["des_a"], "agreed": True},
        {"purposes": ["activation"], "destinations": ["https://x"], "agreed": True},
    ],
)
def test_destinations_and_the_purpose_go_together(owner: JsonClient, body: dict[str, Any]) -> None:
    assert owner.post("/api/a2a/consents", body).status_code == 400


def test_a_consent_that_names_another_destination_sends_nothing(
    person: User, shop: App, agents: Agents, crm: type[Crm], destination: Destination
) -> None:
    second, _ = destination_actions.add_destination(app=shop, name="Mail", url="https://mail.example/in", by=None)
    client = backend(token_of(person, shop, second))
    started = client.post("/api/a2a/analyses", BODY).json()
    here = f"/api/a2a/analyses/{started['analysisId']}/activations"

    refused = client.post(here, {"destinationId": destination.destination_id})
    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    nothing_yet = client.post(here, {"destinationId": second.destination_id})
    assert (nothing_yet.status_code, nothing_yet.json()["code"]) == (409, "nothing_to_activate")
    unknown = client.post(here, {"destinationId": "des_abc"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_destination")
    for other in ({}, {"destinationId": second.destination_id, "sending": 100}):
        assert client.post(here, other).status_code == 400


def test_the_wording_of_a_consent_names_its_destinations(
    owner: JsonClient, shop: App, crm: type[Crm], destination: Destination
) -> None:
    query = {
        "origin": "https://trips.example", "return_url": "https://trips.example/back",
        "purposes": "profile,activation", "destination": destination.destination_id,
    }  # fmt: skip
    page = owner.client.get("/profile/consent/", query)
    assert destination.described in page.content.decode()
    answer = owner.client.post("/profile/consent/", AGREED, query_params=query)

    assert "consent_token=" in answer["Location"]
    consent = ProcessingConsent.objects.get()
    assert consent.purposes == [Purpose.PROFILE, Purpose.ACTIVATION]
    assert consent.destinations == [destination.destination_id]
    assert destination.described in consent.statement
    without = {name: value for name, value in query.items() if name != "destination"}
    assert destination.described in owner.client.get("/profile/consent/", without).content.decode()
    for unfit in ({**query, "destination": "des_other"}, {**query, "purposes": "profile"}):
        assert owner.client.get("/profile/consent/", unfit).status_code == 400


def test_an_app_that_changes_what_it_asks_while_the_page_is_open_is_not_agreed_to(
    owner: JsonClient, shop: App, crm: type[Crm], destination: Destination
) -> None:
    query = {
        "origin": "https://trips.example", "return_url": "https://trips.example/back", "purposes": "activation",
    }  # fmt: skip
    shown = owner.client.get("/profile/consent/", query).context["shown"]
    destination_actions.add_destination(app=shop, name="Mail", url="https://mail.example/in", by=None)

    again = owner.client.post("/profile/consent/", {**AGREED, "shown": shown}, query_params=query)

    assert "has changed since you read it" in again.content.decode()
    assert "Mail (mail.example" in again.content.decode()
    assert not ProcessingConsent.objects.exists()
    agreed = {**AGREED, "shown": again.context["shown"]}
    assert "consent_token=" in owner.client.post("/profile/consent/", agreed, query_params=query)["Location"]
    assert len(ProcessingConsent.objects.get().destinations) == 2


def test_a_token_sees_no_sending_that_the_person_made_by_themselves(
    person: User, shop: App, agents: Agents, crm: type[Crm], destination: Destination
) -> None:
    client = backend(token_of(person, shop, destination))
    made = analysis_actions.start_analysis(by=person, submitted=SUBMITTED, under=ProcessingConsent.objects.get().pk)
    Run.objects.filter(pk=made.pk).update(
        status="completed_with_errors", started_at=database_now(), finished_at=database_now(),
        profile=encryption.sealed('{"likes": ["Muji"]}'), provenance={},
    )  # fmt: skip
    own, _ = activation_actions.agree_and_activate(
        by=person, analysis_id=made.analysis_id, destination_id=destination.destination_id, number=0
    )
    here = f"/api/a2a/analyses/{made.analysis_id}/activations"
    body = {"destinationId": destination.destination_id}

    assert client.get(here).json() == {"activations": []}
    assert client.get(f"{here}/{own.activation_id}").status_code == 404
    taken = client.post(here, body)
    assert (taken.status_code, taken.json()["code"]) == (409, "sending_taken")
    assert client.post(here, {**body, "sending": 1}).status_code == 202


@pytest.mark.parametrize(("more", "reads"), [((), False), ((Purpose.FINANCIAL,), True)])
def test_purchases_are_in_what_a_token_has_analysed_only_where_it_covers_them(
    person: User, shop: App, agents: Agents, bank: Aggregator, more: tuple[Purpose, ...], reads: bool
) -> None:
    refreshed(linked(person, bank, *coffees(5)))
    token_of(person, shop, purposes=(*ANALYSIS_PURPOSES, *more))
    under = ProcessingConsent.objects.order_by("-pk")[0]
    made = analysis_actions.start_analysis(by=person, submitted=SUBMITTED, under=under.pk)

    steps.run_through(made.pk)

    sent = next(request for agent, request in agents.requests if agent == "brand")
    assert ("Purchases of this person" in json.dumps(sent)) == reads
