"""The page of institutions: identity under a consent of its own, and what was bought by category."""

import pytest

from accounts.models import User
from agents_proxy.processing_consent.models import ProcessingConsent
from tests.agents_proxy.institutions import coffees, linked, refreshed
from tests.callers import JsonClient
from tests.fakes.aggregator import Aggregator

pytestmark = pytest.mark.django_db
HERE = "/profile/financial/"


def test_identity_is_asked_under_its_own_consent_and_kept_nowhere(
    owner: JsonClient, person: User, bank: Aggregator
) -> None:
    address = f"{HERE}{linked(person, bank).item_id}/identity/"
    shown = owner.client.get(HERE).content.decode()
    assert owner.client.post(address)["Location"] == HERE
    assert "/identity/get" not in bank.paths
    answer = owner.client.post(address, {"agreed": "yes"})

    identity = answer.context["identity"]
    assert answer.status_code == 200
    assert identity["names"]
    text = answer.content.decode()
    assert all(
        one in text
        for one in (*identity["names"], *identity["emails"], *identity["phoneNumbers"], *identity["addresses"])
    )
    consent = ProcessingConsent.objects.get(purposes=["identity"])
    assert consent.statement.splitlines()[0] in shown
    assert identity["names"][0] not in owner.client.get(HERE).content.decode()
    owner.client.post(address)  # agreed already
    assert ProcessingConsent.objects.filter(purposes=["identity"]).count() == 1
    assert bank.paths.count("/identity/get") == 2


def test_an_aggregator_that_refuses_is_told_in_words(owner: JsonClient, person: User, bank: Aggregator) -> None:
    bank.fails["/identity/get"] = ["INTERNAL_SERVER_ERROR"]
    address = f"{HERE}{linked(person, bank).item_id}/identity/"
    answer = owner.client.post(address, {"agreed": "yes"}, follow=True)

    assert "That did not work just now." in answer.content.decode()


def test_purchases_are_shown_by_category(owner: JsonClient, person: User, bank: Aggregator) -> None:
    refreshed(linked(person, bank, *coffees(5)))
    answer = owner.client.get(HERE)

    assert answer.context["bought"] == [{"name": "coffee", "count": 5, "width": 100.0}]
    assert "Purchases by category" in answer.content.decode()
