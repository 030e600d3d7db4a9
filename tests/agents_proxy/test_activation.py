"""Sending brand affinity to a CRM: as agreed to, signed, and once, whatever the connection or the browser does."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from agents_proxy.analyses import activation
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.models import Call
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient
from tests.fakes.crm import SECRET, Crm, running_crm

pytestmark = pytest.mark.django_db


@pytest.fixture
def crm(settings: Any) -> Iterator[type[Crm]]:
    with running_crm(settings) as running:
        yield running


def test_activation_sends_once_signed_with_the_consent_kept(
    owner: JsonClient, person: User, agents: Agents, crm: type[Crm]
) -> None:
    agents.says = {"brand": {"likes": ["Muji"]}, "core": {"full_name": "Ana", "age": 4}}
    run = finished(person)
    here = f"/profile/{run.analysis_id}/"
    assert "127.0.0.1" in owner.client.get(here).content.decode()
    owner.client.post(f"{here}activate/", {})
    assert crm.got == []
    owner.client.post(f"{here}activate/", {"agreed": "yes"})

    [sent] = crm.got
    assert sent["type"] == "brand_affinity.activated"
    assert sent["data"] == {"analysisId": run.analysis_id, "profile": {"fullName": "Ana", "likes": ["Muji"]}}
    consent = ProcessingConsent.objects.exclude(pk=run.consent_id).get()
    assert (consent.user, consent.purposes) == (person, ["brand_affinity"])
    assert "127.0.0.1" in consent.statement


def test_activation_holds_no_database_connection_while_it_sends(
    owner: JsonClient, person: User, agents: Agents, crm: type[Crm], monkeypatch: Any
) -> None:
    agents.says = {"brand": {"likes": ["Muji"]}}
    run = finished(person)
    given_back: list[int] = []

    class Connection:
        in_atomic_block = False

        def close(self) -> None:
            given_back.append(len(crm.got))

    monkeypatch.setattr(activation, "connection", Connection())
    owner.client.post(f"/profile/{run.analysis_id}/activate/", {"agreed": "yes"})

    assert (given_back, len(crm.got)) == ([0], 1)


def test_activation_that_fails_says_so(owner: JsonClient, person: User, agents: Agents, crm: type[Crm]) -> None:
    agents.says = {"brand": {"likes": ["Muji"]}}
    crm.status = 500
    run = finished(person)
    answer = owner.client.post(f"/profile/{run.analysis_id}/activate/", {"agreed": "yes"}, follow=True)

    assert "The CRM did not take it" in answer.content.decode()


def test_without_a_crm_or_likes_nothing_is_sent(owner: JsonClient, person: User, agents: Agents, settings: Any) -> None:
    run = finished(person)
    for _ in range(2):
        answer = owner.client.post(f"/profile/{run.analysis_id}/activate/", {"agreed": "yes"}, follow=True)
        assert any(words in answer.content.decode() for words in ("No CRM is configured", "There is nothing to send"))
        settings.ACTIVATION_URL, settings.ACTIVATION_SECRET = "http://127.0.0.1:9/", SECRET
    assert ProcessingConsent.objects.count() == 1


def sent(owner: JsonClient, run: Run, form: dict[str, Any] | None = None) -> str:
    """What the page says once its form, or an older one, was sent."""
    here = f"/profile/{run.analysis_id}/"
    filled = form_of(owner, run) if form is None else form
    return owner.client.post(f"{here}activate/", filled, follow=True).content.decode()


def form_of(owner: JsonClient, run: Run) -> dict[str, Any]:
    shown = owner.client.get(f"/profile/{run.analysis_id}/")
    assert f'name="sending" value="{shown.context["sending"]}"' in shown.content.decode()
    return {"agreed": "yes", "sending": shown.context["sending"]}


def agreements() -> Any:
    return ProcessingConsent.objects.filter(statement_version=activation.VERSION)


@pytest.fixture
def liking(person: User, agents: Agents) -> Run:
    agents.says = {"brand": {"likes": ["Muji"]}}
    return finished(person)


def test_a_form_sends_once_and_the_next_one_again(owner: JsonClient, liking: Run, crm: type[Crm]) -> None:
    form = form_of(owner, liking)
    assert "Sent." in sent(owner, liking, form)
    assert "Nothing was sent a second time" in sent(owner, liking, form)
    assert (len(crm.got), agreements().count()) == (1, 1)

    assert "Sent." in sent(owner, liking)
    assert len(set(crm.ids)) == 2
    assert set(crm.ids) == set(agreements().values_list("consent_id", flat=True))


def test_without_its_number_a_form_is_the_first(owner: JsonClient, liking: Run, crm: type[Crm]) -> None:
    for number in ("", "x", "-1", "9" * 50):
        sent(owner, liking, {"agreed": "yes", "sending": number})
    assert len(crm.got) == 1


@pytest.mark.parametrize("answer", ["late", "none"])
def test_what_may_have_arrived_is_said_to_and_sent_again_as_the_same(
    owner: JsonClient, liking: Run, crm: type[Crm], monkeypatch: Any, answer: str
) -> None:
    crm.status = 0
    if answer == "late":
        monkeypatch.setattr(activation, "_ANSWER", 0.2)
        crm.go_on.clear()
    assert "may have arrived" in sent(owner, liking)
    crm.go_on.set()
    monkeypatch.setattr(activation, "_ANSWER", 10)
    crm.status = 204
    assert "Sent." in sent(owner, liking)

    assert (len(crm.ids), len(set(crm.ids)), len(set(crm.bodies))) == (2, 1, 1)
    assert list(Call.objects.filter(agent="crm").order_by("id").values_list("outcome", "consent__consent_id")) == [
        ("upstream_timeout", crm.ids[0]),
        ("answered", crm.ids[0]),
    ]
    assert agreements().count() == 1


@pytest.mark.parametrize("ends", ["withdrawn", "over"])
def test_a_form_whose_consent_has_ended_sends_nothing(
    owner: JsonClient, person: User, liking: Run, crm: type[Crm], monkeypatch: Any, ends: str
) -> None:
    crm.status = 503
    form = form_of(owner, liking)
    assert "did not take it" in sent(owner, liking, form)
    crm.status = 204
    if ends == "withdrawn":
        consents.withdraw(consent_id=agreements().get().consent_id, by=person)
    else:
        monkeypatch.setattr(consents, "database_now", lambda: timezone.now() + timedelta(minutes=11))
    assert "Agree again" in sent(owner, liking, form)
    assert len(crm.got) == 1

    monkeypatch.undo()
    if ends == "withdrawn":
        assert "Sent." in sent(owner, liking)
        assert len(set(crm.ids)) == agreements().count() == 2


def test_another_profile_is_another_message(owner: JsonClient, liking: Run, crm: type[Crm], agents: Agents) -> None:
    agents.says = {"brand": {"likes": ["tea"]}}
    other = finished(liking.user)
    sent(owner, liking, {"agreed": "yes", "sending": 0})
    sent(owner, other, {"agreed": "yes", "sending": 0})

    assert len(set(crm.ids)) == 2


def test_a_crm_that_is_not_there_has_nothing(owner: JsonClient, liking: Run, settings: Any) -> None:
    settings.ACTIVATION_URL, settings.ACTIVATION_SECRET = "http://127.0.0.1:9/", SECRET
    assert "cannot be reached" in sent(owner, liking)
    assert Call.objects.get(agent="crm").outcome == "upstream_unavailable"
