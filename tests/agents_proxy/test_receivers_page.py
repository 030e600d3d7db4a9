"""The page of an agreement's receivers: who got something, who confirmed, who did not, and whom to ask oneself."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from accounts.models import User
from agents_proxy.deletions.messages import RECEIPT_TYPE
from agents_proxy.deletions.models import Deletion
from agents_proxy.processing_consent.models import ProcessingConsent
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.forgetting import Forgetting, attempt, claims_of
from tests.agents_proxy.proxy_calls import CALL, consenting, owning
from tests.callers import JsonClient, signed_in
from tests.factories import DeletionFactory, PersonFactory, ProcessingConsentFactory

pytestmark = pytest.mark.django_db
GIVEN = "/profile/consent/given/"


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def page_of(consent: ProcessingConsent) -> str:
    return f"/profile/consent/{consent.consent_id}/receivers/"


def words(answer: Any) -> str:
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_it_is_reached_from_the_agreement_before_and_after_withdrawing(
    caller: JsonClient, person: User, there: Forgetting, browser: Client
) -> None:
    caller.post("/api/a2a/brand", CALL)
    caller.post("/api/a2a/core", CALL)
    consent = ProcessingConsent.objects.get()
    assert "Who received something: 2" in words(browser.get(GIVEN))
    before = words(browser.get(page_of(consent)))
    assert "Brand agent" in before
    assert "Received something" in before

    answer = browser.post(f"/profile/consent/{consent.consent_id}/withdraw/")
    assert answer.headers["Location"] == page_of(consent)
    assert "0 of 2 receivers confirmed" in words(browser.get(page_of(consent)))
    there.reply = lambda agent, _claims: (200, b"<b>gone</b>") if agent == "brand" else (503, b"")
    attempt()

    after = words(browser.get(page_of(consent)))
    assert "1 of 2 receivers confirmed" in after
    [receipt] = re.findall(r"<code>(\S+)</code>", browser.get(page_of(consent)).content.decode())
    claims = claims_of(receipt, kind=RECEIPT_TYPE)
    assert (claims["receiver"], claims["answer"], claims["iss"]) == ("brand", "<b>gone</b>", settings.ISSUER)
    assert "&lt;b&gt;gone&lt;/b&gt;" in after
    assert "It did not confirm." in after
    assert "Next attempt" in after
    assert "Who received something: 2" in words(browser.get(GIVEN))


def test_without_an_address_it_says_whom_to_ask(
    caller: JsonClient, person: User, agents: Agents, settings: Any, browser: Client
) -> None:
    caller.post("/api/a2a/brand", CALL)
    settings.AGENTS["brand"]["contact"] = "Example Ltd, privacy@agents.example"
    consent = ProcessingConsent.objects.get()
    asks = "It takes no such requests: ask whoever runs it. Example Ltd, privacy@agents.example"
    assert asks in words(browser.get(page_of(consent)))
    browser.post(f"/profile/consent/{consent.consent_id}/withdraw/")
    attempt()

    assert asks in words(browser.get(page_of(consent)))


def test_what_was_agreed_to_and_has_run_out_can_be_deleted_too(
    person: User, there: Forgetting, browser: Client, agents: Agents
) -> None:
    now = database_now()
    consent = ProcessingConsentFactory(
        user=owning(person), given_at=now - timedelta(days=2), expires_at=now - timedelta(days=1)
    )
    DeletionFactory(consent=consent, requested=False, origin=agents.address)
    assert "Have it deleted" in words(browser.get(page_of(consent)))
    browser.post(f"/profile/consent/{consent.consent_id}/withdraw/")
    attempt()

    assert there.names == ["brand"]
    assert "1 of 1 receiver confirmed" in words(browser.get(page_of(consent)))


def test_nobody_sees_another_persons(caller: JsonClient, person: User, there: Forgetting, browser: Client) -> None:
    zoe = consenting(PersonFactory(email="zoe@example.org"))
    signed_in(zoe).post("/api/a2a/brand", CALL)
    hers = ProcessingConsent.objects.get(user=zoe)

    for consent_id in (hers.consent_id, "pcn_nothing", "x" * 300):
        assert browser.get(f"/profile/consent/{consent_id}/receivers/").status_code == 404
    assert browser.post(f"/profile/consent/{hers.consent_id}/withdraw/").status_code == 404
    assert Deletion.objects.get().status == "disclosed"
    assert Client().get(page_of(hers)).status_code == 302


def test_an_agreement_under_which_nothing_was_sent_says_so(person: User, browser: Client) -> None:
    consent = ProcessingConsentFactory(user=person)
    assert "Nobody received anything" in words(browser.get(page_of(consent)))
    answer = browser.post(f"/profile/consent/{consent.consent_id}/withdraw/")

    assert answer.headers["Location"] == GIVEN


def test_it_takes_as_many_queries_for_many_receivers(
    person: User, browser: Client, django_assert_num_queries: Any
) -> None:
    one, many = ProcessingConsentFactory(user=person), ProcessingConsentFactory(user=person)
    for number in range(12):
        DeletionFactory(consent=one if number == 0 else many, origin=f"https://agents{number}.example")
    browser.get(page_of(one))
    for consent in (one, many):
        with django_assert_num_queries(7 if connection.vendor == "postgresql" else 6):  # it is asked for the time
            browser.get(page_of(consent))
