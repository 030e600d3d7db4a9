"""The page of messages: wording, preview, sending once, and what became of each."""

import json
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.digests import digest
from agents_proxy.messaging.models import OutboundMessage, PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import OTHER, TO
from tests.callers import JsonClient
from tests.factories import MessageTemplateFactory, PhoneNumberFactory

pytestmark = pytest.mark.django_db
HERE = "/profile/messages/"
FORM = {"task": "task-1", "to": TO, "text": "Your table is ready.", "agreed": "on", "do": "send"}


@pytest.fixture
def number(person: User) -> PhoneNumber:
    return PhoneNumberFactory(user=person, digest=digest("number", TO))


def sent_text(carrier: Agents) -> Any:
    [(_, call)] = carrier.requests
    return json.loads(call["params"]["message"]["parts"][0]["text"])


def test_own_words_are_sent_once_however_often_the_button_is_pressed(
    owner: JsonClient, person: User, carrier: Agents, number: PhoneNumber
) -> None:
    form = owner.client.get(HERE).content.decode()
    answers = [owner.client.post(HERE, FORM) for _ in range(2)]

    assert [answer["Location"] for answer in answers] == [HERE] * 2
    assert sent_text(carrier) == {"to": TO, "text": "Your table is ready."}
    consent = ProcessingConsent.objects.get()
    assert (consent.purposes, consent.statement.splitlines()[0] in form) == (["messaging"], True)
    assert OutboundMessage.objects.get().consent == consent
    listed = owner.client.get(HERE).content.decode()
    assert 'data-status="sent"' in listed
    assert "Your table" not in listed


def test_an_approved_template_is_previewed_and_sent(
    owner: JsonClient, person: User, carrier: Agents, number: PhoneNumber
) -> None:
    MessageTemplateFactory(
        name="table_ready", language="en", text="{name}, your table for {count} is ready, {name}.", agreed=True
    )
    here = f"{HERE}?template=table_ready.en"
    filled = {"task": "task-2", "to": TO, "p_name": "Ana & Bo", "p_count": "2", "agreed": "on"}
    preview = owner.client.post(here, {**filled, "do": "preview"})

    assert preview.status_code == 200
    assert preview.context["preview"] == "Ana & Bo, your table for 2 is ready, Ana & Bo."
    assert "Ana &amp; Bo, your table for 2" in preview.content.decode()
    assert carrier.requests == []
    assert not ProcessingConsent.objects.exists()
    assert owner.client.post(here, {**filled, "do": "send"})["Location"] == HERE
    shown = owner.client.get(HERE).content.decode()
    assert '<p class="t">Table ready</p>' in shown
    assert ">Table ready (en)</a>" in shown
    named = {"name": "table_ready", "language": "en", "parameters": {"name": "Ana & Bo", "count": "2"}}
    assert sent_text(carrier) == {"to": TO, "template": named}
    for unknown in ("other.en", "%00.en", "table_ready.%00", "table_ready", "x" * 200):
        assert owner.client.get(f"{HERE}?template={unknown}").status_code == 404


@pytest.mark.parametrize(
    ("given", "field"),
    [({"to": "0151"}, "to"), ({"text": " "}, "text"), ({"agreed": ""}, "agreed"), ({"task": "x"}, "task")],
)
def test_what_does_not_fit_is_said(
    owner: JsonClient, carrier: Agents, number: PhoneNumber, given: dict[str, str], field: str
) -> None:
    answer = owner.client.post(HERE, {**FORM, **given})

    assert (answer.status_code, set(answer.context["form"].errors)) == (400, {field})
    assert carrier.requests == []


def test_a_number_of_somebody_else_is_refused(owner: JsonClient, carrier: Agents, number: PhoneNumber) -> None:
    answer = owner.client.post(HERE, {**FORM, "to": OTHER})

    assert answer.status_code == 400
    text = answer.content.decode()
    assert f'value="{OTHER}"' not in text
    assert "Your table is ready." in text
    assert carrier.requests == []


def test_the_same_page_sends_no_other_message(owner: JsonClient, carrier: Agents, number: PhoneNumber) -> None:
    owner.client.post(HERE, FORM)

    assert owner.client.post(HERE, {**FORM, "text": "Another."}).status_code == 400
    assert len(carrier.requests) == 1


def test_refusals_are_told_in_words(owner: JsonClient, carrier: Agents, number: PhoneNumber, settings: Any) -> None:
    settings.AGENTS = {**settings.AGENTS, "messaging": {**settings.AGENTS["messaging"], "url": ""}}
    answer = owner.client.post(HERE, FORM)

    assert answer.status_code == 503
    assert "not available here" in answer.content.decode()
    assert not OutboundMessage.objects.exists()


@pytest.mark.parametrize(
    ("reply", "status", "word"),
    [
        ({"status": "delivered", "messageId": "m-1"}, "delivered", "Delivered"),
        ({"error": {"code": 1, "message": "x"}}, "failed", "Failed"),
    ],
)
def test_what_became_of_it_is_shown(
    owner: JsonClient, carrier: Agents, number: PhoneNumber, reply: Any, status: str, word: str
) -> None:
    carrier.replies = {"messaging": reply}
    owner.client.post(HERE, FORM)
    text = owner.client.get(HERE).content.decode()

    assert f'data-status="{status}"' in text
    assert word in text
