"""Sending brand affinity to a destination: as agreed to, signed, tried again, and once for each sending."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from agents_proxy.activations import actions as activation_actions
from agents_proxy.activations import deliveries, tasks
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses.models import Run
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import ACTIVATION_MOVES, ActivationStatus, Purpose
from common import encryption
from common.clock import database_now
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.receivers import backend, deliver, receiving, token_of
from tests.agents_proxy.runs import BODY, SUBMITTED, finished
from tests.callers import JsonClient
from tests.factories import AppFactory, PersonFactory, TestAppFactory
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(db: None) -> App:
    made: App = AppFactory(name="Trip Planner", origins=["https://trips.example"])
    return made


@pytest.fixture
def received(settings: Any, shop: App) -> Iterator[tuple[type[Crm], Destination]]:
    with receiving(settings, shop) as found:
        yield found


@pytest.fixture
def crm(received: tuple[type[Crm], Destination]) -> type[Crm]:
    return received[0]


@pytest.fixture
def destination(received: tuple[type[Crm], Destination]) -> Destination:
    return received[1]


@pytest.fixture
def liking(person: User, agents: Agents) -> Run:
    agents.says = {"brand": {"likes": ["Muji"]}, "core": {"full_name": "Ana", "age": 4}}
    return finished(person)


def page_of(run: Run, destination: Destination) -> str:
    return f"/profile/analyses/{run.analysis_id}/send/?destination={destination.destination_id}"


def form_of(owner: JsonClient, run: Run, destination: Destination) -> dict[str, Any]:
    shown = owner.client.get(page_of(run, destination))
    names = {"sending": shown.context["number"], "shown": shown.context["shown"]}
    assert all(f'name="{name}" value="{value}"' in shown.content.decode() for name, value in names.items())
    return {"agreed": "yes", "destination": destination.destination_id, **names}


def said(owner: JsonClient, run: Run, destination: Destination, form: dict[str, Any]) -> str:
    """What the page says once a form of it was sent."""
    return owner.client.post(page_of(run, destination), form, follow=True).content.decode()


def asked(run: Run, destination: Destination, number: int = 0) -> Activation:
    made, _ = activation_actions.agree_and_activate(
        by=run.user, analysis_id=run.analysis_id, destination_id=destination.destination_id, number=number
    )
    return made


def kept(activation: Activation) -> Activation:
    return Activation.objects.get(pk=activation.pk)


def test_the_page_shows_what_is_sent_and_the_consent_is_kept_in_its_words(
    owner: JsonClient, person: User, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    page = owner.client.get(page_of(liking, destination)).content.decode()
    assert "Muji" in page
    assert f"Trips CRM ({destination.host}, Trip Planner)" in page
    assert "Nothing was sent" in said(owner, liking, destination, {**form_of(owner, liking, destination), "agreed": ""})
    assert ProcessingConsent.objects.count() == 1  # that of the analysis

    assert "It is being sent" in said(owner, liking, destination, form_of(owner, liking, destination))
    deliver()

    [sent] = crm.got
    assert sent["type"] == "brand_affinity.activated"
    assert sent["data"] == {"analysisId": liking.analysis_id, "profile": {"fullName": "Ana", "likes": ["Muji"]}}
    consent = ProcessingConsent.objects.exclude(pk=liking.consent_id).get()
    assert (consent.user, consent.purposes) == (person, ["activation"])
    assert consent.destinations == [destination.destination_id]
    assert consent.statement in page
    assert "Arrived" in owner.client.get(page_of(liking, destination)).content.decode()


def test_what_was_sent_stands_with_the_consent_too(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    asked(liking, destination)
    assert "Waits to be sent" in owner.client.get("/profile/consent/given/").content.decode()
    deliver()
    shown = owner.client.get("/profile/consent/given/").content.decode()
    assert "Arrived" in shown
    assert destination.host in shown


def test_a_form_sends_once_and_the_next_one_again(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    form = form_of(owner, liking, destination)
    assert "It is being sent" in said(owner, liking, destination, form)
    assert "Nothing was sent a second time" in said(owner, liking, destination, form)
    assert "It is being sent" in said(owner, liking, destination, form_of(owner, liking, destination))
    deliver()

    assert sorted(crm.ids) == sorted(Activation.objects.values_list("activation_id", flat=True))
    assert len(set(crm.ids)) == 2


def test_a_form_of_another_profile_sends_nothing(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    form = form_of(owner, liking, destination)
    Run.objects.filter(pk=liking.pk).update(profile=encryption.sealed('{"likes": ["tea"]}'))

    assert "has changed since" in said(owner, liking, destination, form)
    assert not Activation.objects.exists()


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 50])
def test_without_its_number_a_form_is_the_first(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination, number: str
) -> None:
    for _ in range(2):
        said(owner, liking, destination, {**form_of(owner, liking, destination), "sending": number})
    assert list(Activation.objects.values_list("number", flat=True)) == [0]


def test_what_was_sent_is_kept_as_a_digest_alone(liking: Run, crm: type[Crm], destination: Destination) -> None:
    waiting = asked(liking, destination)
    assert "Muji" not in str(waiting.body)
    deliver()

    ended = kept(waiting)
    assert (ended.status, ended.body, ended.status_code) == (ActivationStatus.DELIVERED, None, 204)
    assert ended.digest == hashlib.sha256(crm.bodies[0]).hexdigest()


@pytest.mark.parametrize(("answers", "error"), [(503, "refused"), (302, "refused"), (0, "unreachable")])
def test_what_is_not_taken_is_tried_again_later_as_the_same(
    liking: Run, crm: type[Crm], destination: Destination, answers: int, error: str
) -> None:
    crm.status = answers
    waiting = asked(liking, destination)
    before = database_now()
    deliver()
    deliver()  # not due

    again = kept(waiting)
    assert (again.status, again.attempts, again.error_code) == (ActivationStatus.QUEUED, 1, error)
    assert again.next_attempt_at is not None
    assert timedelta(seconds=4) <= again.next_attempt_at - before <= timedelta(seconds=12)

    crm.status = 204
    Activation.objects.update(next_attempt_at=before)
    deliver()
    assert kept(waiting).status == ActivationStatus.DELIVERED
    assert (len(crm.ids), len(set(crm.ids)), len(set(crm.bodies))) == (2, 1, 1)


def test_after_the_last_attempt_it_is_given_up(liking: Run, crm: type[Crm], destination: Destination) -> None:
    crm.status = 500
    waiting = asked(liking, destination)
    for _ in range(20):
        Activation.objects.filter(status="queued").update(next_attempt_at=database_now())
        deliver()

    ended = kept(waiting)
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, "refused", None)
    assert len(crm.ids) == ended.attempts == len(deliveries.PAUSES) + 1


def test_410_disables_the_destination(liking: Run, crm: type[Crm], destination: Destination) -> None:
    crm.status = 410
    waiting = asked(liking, destination)
    deliver()

    assert kept(waiting).status == ActivationStatus.FAILED
    assert Destination.objects.get().disabled_at is not None


def withdraw(run: Run, destination: Destination) -> None:
    consents.withdraw(consent_id=ProcessingConsent.objects.get(purposes=["activation"]).consent_id, by=run.user)


def delete(run: Run, destination: Destination) -> None:
    analysis_actions.delete_analysis(by=run.user, analysis_id=run.analysis_id)


def disable(run: Run, destination: Destination) -> None:
    destination_actions.disable_destination(destination=destination, by=None)


def remove(run: Run, destination: Destination) -> None:
    destination_actions.remove_destination(destination=destination, by=run.user)


def suspend(run: Run, destination: Destination) -> None:
    App.objects.filter(pk=destination.app_id).update(status="suspended")
    Activation.objects.update(next_attempt_at=database_now())


@pytest.mark.parametrize(
    ("gone", "error"),
    [
        (withdraw, "consent_ended"), (delete, "analysis_deleted"), (disable, "destination_disabled"),
        (remove, "destination_disabled"), (suspend, "destination_disabled"),
    ],
)  # fmt: skip
def test_what_lost_its_ground_is_not_sent_and_not_kept(
    liking: Run, crm: type[Crm], destination: Destination, gone: Any, error: str
) -> None:
    waiting = asked(liking, destination)
    Activation.objects.update(next_attempt_at=database_now() + timedelta(hours=5))
    gone(liking, destination)
    tasks.resume_activations()
    deliver()

    ended = kept(waiting)
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, error, None)
    assert crm.got == []


def test_a_worker_that_died_is_followed_by_another(liking: Run, crm: type[Crm], destination: Destination) -> None:
    waiting = asked(liking, destination)
    held = {"status": "sending", "attempts": 1, "next_attempt_at": None}
    Activation.objects.update(**held, lease_until=database_now() + timedelta(seconds=30))
    deliver()
    assert crm.got == []

    Activation.objects.update(lease_until=database_now() - timedelta(seconds=5))
    assert deliveries.due() == [waiting.pk]
    deliver()
    assert (kept(waiting).status, kept(waiting).attempts) == (ActivationStatus.DELIVERED, 2)


def test_no_database_connection_is_held_while_it_is_sent(
    liking: Run, crm: type[Crm], destination: Destination, monkeypatch: Any
) -> None:
    asked(liking, destination)
    given_back: list[int] = []

    class Connection:
        in_atomic_block = False

        def close(self) -> None:
            given_back.append(len(crm.got))

    monkeypatch.setattr(deliveries, "connection", Connection())
    deliver()

    assert (given_back, len(crm.got)) == ([0], 1)


def test_a_stranger_and_an_unknown_destination_get_nothing(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination, agents: Agents
) -> None:
    other = finished(PersonFactory())
    assert owner.client.get(page_of(other, destination)).status_code == 404
    assert owner.client.put(page_of(liking, destination)).status_code == 405
    form = {**form_of(owner, liking, destination), "destination": "des_unknown"}
    assert "is not there any more" in said(owner, liking, destination, form)
    assert not Activation.objects.exists()


def test_a_test_app_reaches_nobody_but_members_who_agreed(owner: JsonClient, liking: Run, settings: Any) -> None:
    with receiving(settings, TestAppFactory()) as (_, destination):
        page = owner.client.get(page_of(liking, destination)).content.decode()
    assert destination.name not in page


@pytest.mark.parametrize("old", list(ActivationStatus))
@pytest.mark.parametrize("new", list(ActivationStatus))
def test_the_database_holds_the_lifecycle(
    liking: Run, crm: type[Crm], destination: Destination, old: ActivationStatus, new: ActivationStatus
) -> None:
    now = database_now()
    columns = {
        "queued": {"next_attempt_at": now, "lease_until": None, "finished_at": None, "body": "sealed"},
        "sending": {"next_attempt_at": None, "lease_until": now, "finished_at": None, "body": "sealed"},
        "delivered": {"next_attempt_at": None, "lease_until": None, "finished_at": now, "body": None},
        "failed": {"next_attempt_at": None, "lease_until": None, "finished_at": now, "body": None},
    }
    codes = {"delivered": {"status_code": 204}, "failed": {"error_code": "refused"}}
    row = asked(liking, destination)
    Activation.objects.filter(pk=row.pk).delete()
    made = Activation.objects.create(
        run=liking, destination=destination, consent=row.consent, digest="", created_at=now,
        status=old, **columns[old], **codes.get(old, {}),
    )  # fmt: skip
    end = {"error_code": "", "status_code": None, **codes.get(new, {})}
    moved = Activation.objects.filter(pk=made.pk)
    if old == new or new in ACTIVATION_MOVES[old]:
        assert moved.update(status=new, **columns[new], **end) == 1
    else:
        with pytest.raises(IntegrityError), transaction.atomic():
            moved.update(status=new, **columns[new], **end)


@pytest.mark.parametrize("changed", [{"number": 4}, {"digest": "0"}])
def test_what_was_asked_for_never_changes(
    liking: Run, crm: type[Crm], destination: Destination, changed: dict[str, Any]
) -> None:
    asked(liking, destination)
    with pytest.raises(IntegrityError), transaction.atomic():
        Activation.objects.update(**changed)
    with pytest.raises(IntegrityError), transaction.atomic():
        Destination.objects.update(url="https://elsewhere.example/")
    assert connection.needs_rollback is False


# --- by program ------------------------------------------------------------------------------------------------------


def test_a_token_that_names_the_destination_sends_and_reads_the_state(
    person: User, shop: App, agents: Agents, crm: type[Crm], destination: Destination
) -> None:
    agents.says = {"brand": {"likes": ["Muji"]}}
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
    told = first.json()
    assert told.keys() == {"activationId", "status", "statusUrl"}
    assert (told["status"], told["statusUrl"], first["Location"]) == (
        "queued", f"{here}/{told['activationId']}", told["statusUrl"],
    )  # fmt: skip
    deliver()
    state = client.get(told["statusUrl"]).json()
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
    answer = owner.client.post("/profile/consent/", {"decision": "agree"}, query_params=query)

    assert "consent_token=" in answer["Location"]
    consent = ProcessingConsent.objects.get()
    assert consent.purposes == [Purpose.PROFILE, Purpose.ACTIVATION]
    assert consent.destinations == [destination.destination_id]
    assert destination.described in consent.statement
    without = {name: value for name, value in query.items() if name != "destination"}
    assert destination.described in owner.client.get("/profile/consent/", without).content.decode()
    for unfit in ({**query, "destination": "des_other"}, {**query, "purposes": "profile"}):
        assert owner.client.get("/profile/consent/", unfit).status_code == 400
