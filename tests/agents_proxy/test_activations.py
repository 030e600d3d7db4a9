"""Sending brand affinity to a destination: as agreed to, signed, tried again, and once for each sending."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from agents_proxy import tasks
from agents_proxy.activations import actions as activation_actions
from agents_proxy.activations import deliveries
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses.models import Run
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import ACTIVATION_MOVES, ActivationStatus
from common import encryption
from common.clock import database_now, rfc3339
from developers.models import App
from tests.agents_proxy.receivers import deliver, receiving
from tests.callers import JsonClient
from tests.factories import TestAppFactory
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db


def page_of(run: Run, destination: Destination) -> str:
    return f"/profile/analyses/{run.analysis_id}/send/?destination={destination.destination_id}"


def form_of(owner: JsonClient, run: Run, destination: Destination) -> dict[str, Any]:
    shown = owner.client.get(page_of(run, destination))
    names = {"sending": shown.context["number"], "shown": shown.context["shown"]}
    assert all(f'name="{name}" value="{value}"' in shown.content.decode() for name, value in names.items())
    return {"agreed": "yes", "destination": destination.destination_id, **names}


def page_after(owner: JsonClient, run: Run, destination: Destination, form: dict[str, Any]) -> str:
    """What the page says once a form of it was sent."""
    return owner.client.post(page_of(run, destination), form, follow=True).content.decode()


def create(run: Run, destination: Destination, number: int = 0) -> Activation:
    made, _ = activation_actions.agree_and_activate(
        by=run.user, analysis_id=run.analysis_id, destination_id=destination.destination_id, number=number
    )
    return made


def kept(activation: Activation) -> Activation:
    return Activation.objects.get(pk=activation.pk)


def test_a_destination_that_they_agreed_to_by_themselves_is_offered_without_a_link(
    owner: JsonClient, person: User, liking: Run, destination: Destination
) -> None:
    bare = f"/profile/analyses/{liking.analysis_id}/send/"
    assert "No receiver yet" in owner.client.get(bare).content.decode()

    agreed = {"purposes": ["activation"], "destinations": [destination.destination_id], "agreed": True}
    assert owner.post("/api/a2a/consents", agreed).status_code == 201

    assert "What Trips CRM receives" in owner.client.get(bare).content.decode()


def test_the_page_shows_what_is_sent_and_the_consent_is_kept_in_its_words(
    owner: JsonClient, person: User, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    page = owner.client.get(page_of(liking, destination)).content.decode()
    assert "Muji" in page
    assert f"Trips CRM ({destination.host}, Trip Planner)" in page
    assert "Nothing was sent" in page_after(
        owner, liking, destination, {**form_of(owner, liking, destination), "agreed": ""}
    )
    assert ProcessingConsent.objects.count() == 1  # that of the analysis

    assert "It is being sent" in page_after(owner, liking, destination, form_of(owner, liking, destination))
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
    create(liking, destination)
    assert "Waits to be sent" in owner.client.get("/profile/consent/given/").content.decode()
    deliver()
    shown = owner.client.get("/profile/consent/given/").content.decode()
    assert "Arrived" in shown
    assert destination.host in shown


def test_a_form_sends_once_and_the_next_one_again(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    form = form_of(owner, liking, destination)
    assert "It is being sent" in page_after(owner, liking, destination, form)
    assert "Nothing was sent a second time" in page_after(owner, liking, destination, form)
    assert "It is being sent" in page_after(owner, liking, destination, form_of(owner, liking, destination))
    deliver()

    assert sorted(crm.ids) == sorted(Activation.objects.values_list("activation_id", flat=True))
    assert len(set(crm.ids)) == 2


def test_a_form_of_another_profile_sends_nothing(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination
) -> None:
    form = form_of(owner, liking, destination)
    Run.objects.filter(pk=liking.pk).update(profile=encryption.sealed('{"likes": ["tea"]}'))

    assert "has changed since" in page_after(owner, liking, destination, form)
    assert not Activation.objects.exists()


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 50])
def test_without_its_number_a_form_is_the_first(
    owner: JsonClient, liking: Run, crm: type[Crm], destination: Destination, number: str
) -> None:
    for _ in range(2):
        page_after(owner, liking, destination, {**form_of(owner, liking, destination), "sending": number})
    assert list(Activation.objects.values_list("number", flat=True)) == [0]


def test_what_was_sent_is_kept_as_a_digest_alone(liking: Run, crm: type[Crm], destination: Destination) -> None:
    waiting = create(liking, destination)
    assert '"Muji"' not in str(waiting.body)
    deliver()

    ended = kept(waiting)
    assert (ended.status, ended.body, ended.status_code) == (ActivationStatus.DELIVERED, None, 204)
    assert ended.digest == hashlib.sha256(crm.bodies[0]).hexdigest()
    assert crm.got[0]["timestamp"] == rfc3339(waiting.created_at)


@pytest.mark.parametrize(("answers", "error"), [(503, "refused"), (302, "refused"), (0, "unreachable")])
def test_what_is_not_taken_is_tried_again_later_as_the_same(
    liking: Run, crm: type[Crm], destination: Destination, answers: int, error: str
) -> None:
    crm.status = answers
    waiting = create(liking, destination)
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


def test_an_address_inside_is_not_reached_even_where_its_destination_was_made_for_trying_out(
    liking: Run, crm: type[Crm], destination: Destination, settings: Any
) -> None:
    settings.WEBHOOK_INTERNAL_ADDRESSES = False
    waiting = create(liking, destination)
    deliver()

    assert crm.got == []
    assert (kept(waiting).attempts, kept(waiting).error_code) == (1, "unreachable")


def test_after_the_last_attempt_it_is_given_up(liking: Run, crm: type[Crm], destination: Destination) -> None:
    crm.status = 500
    waiting = create(liking, destination)
    for _ in range(20):
        Activation.objects.filter(status="queued").update(next_attempt_at=database_now())
        deliver()

    ended = kept(waiting)
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, "refused", None)
    assert len(crm.ids) == ended.attempts == len(deliveries.PAUSES) + 1


def test_410_disables_the_destination(liking: Run, crm: type[Crm], destination: Destination) -> None:
    crm.status = 410
    waiting = create(liking, destination)
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
    waiting = create(liking, destination)
    Activation.objects.update(next_attempt_at=database_now() + timedelta(hours=5))
    gone(liking, destination)
    tasks.resume_activations()
    deliver()

    ended = kept(waiting)
    assert (ended.status, ended.error_code, ended.body) == (ActivationStatus.FAILED, error, None)
    assert crm.got == []


def test_a_worker_that_died_is_followed_by_another(liking: Run, crm: type[Crm], destination: Destination) -> None:
    waiting = create(liking, destination)
    being_sent = {"status": "sending", "attempts": 1, "next_attempt_at": None}
    Activation.objects.update(**being_sent, lease_until=database_now() + timedelta(seconds=30))
    deliver()
    assert crm.got == []

    Activation.objects.update(lease_until=database_now() - timedelta(seconds=5))
    assert deliveries.due() == [waiting.pk]
    deliver()
    assert (kept(waiting).status, kept(waiting).attempts) == (ActivationStatus.DELIVERED, 2)


def test_no_database_connection_is_held_while_it_is_sent(
    liking: Run, crm: type[Crm], destination: Destination, monkeypatch: Any
) -> None:
    create(liking, destination)
    given_back: list[int] = []

    class Connection:
        in_atomic_block = False

        def close(self) -> None:
            given_back.append(len(crm.got))

    monkeypatch.setattr(deliveries, "connection", Connection())
    deliver()

    assert (given_back, len(crm.got)) == ([0], 1)


def test_nothing_goes_to_an_unknown_destination(owner: JsonClient, liking: Run, destination: Destination) -> None:
    form = {**form_of(owner, liking, destination), "destination": "des_unknown"}
    assert "is not there any more" in page_after(owner, liking, destination, form)
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
    row = create(liking, destination)
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
    create(liking, destination)
    with pytest.raises(IntegrityError), transaction.atomic():
        Activation.objects.update(**changed)
    with pytest.raises(IntegrityError), transaction.atomic():
        Destination.objects.update(url="https://elsewhere.example/")
    assert connection.needs_rollback is False


def test_one_destination_holds_no_more_than_its_share_of_a_workers_threads(
    liking: Run, crm: type[Crm], destination: Destination
) -> None:
    made = [create(liking, destination, number) for number in range(deliveries.MOST_AT_ONCE + 1)]
    under_way = {"status": ActivationStatus.SENDING, "next_attempt_at": None, "attempts": 1}
    Activation.objects.filter(pk__in=[one.pk for one in made[1:]]).update(
        **under_way, lease_until=database_now() + timedelta(minutes=1)
    )
    Activation.objects.filter(pk=made[0].pk).update(next_attempt_at=database_now() - timedelta(minutes=1))

    deliveries.send(made[0].pk)
    assert (kept(made[0]).status, deliveries.due(), crm.got) == ("queued", [], [])

    Activation.objects.filter(pk=made[1].pk).update(lease_until=database_now() - timedelta(minutes=1))
    assert made[0].pk in deliveries.due()
    deliveries.send(made[0].pk)
    assert kept(made[0]).status == "delivered"
