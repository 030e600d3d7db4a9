"""What is handed to a person of their analyses, consents and messages."""

from typing import Any

import pytest
from django.test import override_settings

from accounts.models import User
from agents_proxy.erasure import export
from agents_proxy.processing_consent import actions as consents
from common import encryption
from tests import factories
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished

pytestmark = pytest.mark.django_db


def test_it_holds_consents_in_their_words_answers_of_agents_sendings_and_messages(person: User, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    run = finished(person)
    sent = factories.ActivationFactory(run=run)
    message = factories.OutboundMessageFactory(consent=factories.ProcessingConsentFactory(user=person))
    factories.ActivationFactory()
    factories.OutboundMessageFactory()
    corrected = factories.CorrectionFactory(user=person, field="age", value=encryption.sealed("41"))
    factories.CorrectionFactory()

    found: dict[str, Any] = export(person)

    assert found["processing_consents"] == consents.listed(person)
    assert all(consent["statement"] for consent in found["processing_consents"])
    (analysis,) = found["analyses"]
    assert [step["agent"] for step in analysis["steps"]] == ["brand", "core", "public", "second"]
    assert "Muji" in analysis["steps"][0]["reply"]
    assert [(one["activation_id"], one["analysis_id"]) for one in found["sent_to_destinations"]] == [
        (sent.activation_id, run.analysis_id)
    ]
    assert found["corrections"] == [{"field": "age", "value": "41", "at": corrected.at}]
    assert [one["message_id"] for one in found["messages"]] == [message.message_id]


def test_what_was_sealed_under_a_key_that_is_gone_is_null(person: User, agents: Agents) -> None:
    finished(person)
    factories.PhoneNumberFactory(user=person)

    with override_settings(DATA_ENCRYPTION_KEYS=["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]):
        found: dict[str, Any] = export(person)

    assert (found["analyses"][0]["input"], found["phone_numbers"]) == (None, [None])
