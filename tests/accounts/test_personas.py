"""Which side opens first: the one that was opened last, for somebody who signs in too."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Persona, RuntimePersonaState, User
from accounts.personas import side_of
from tests.factories import MemberFactory, PersonFactory
from tests.factories.accounts import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> User:
    made: User = PersonFactory()
    client.force_login(made)
    return made


def test_the_side_that_was_opened_last_opens_first(client: Client, person: User) -> None:
    assert client.get("/")["Location"] == "/consent/"
    assert not RuntimePersonaState.objects.exists()

    client.get("/developers/")
    assert client.get("/")["Location"] == "/developers/"

    client.get("/consent/")
    assert client.get("/")["Location"] == "/consent/"
    assert side_of(person) is Persona.PERSON


def test_a_developer_lands_in_the_portal_after_signing_in(person: User) -> None:
    RuntimePersonaState.objects.create(user=person, last_active_persona="developer")
    sent = {"login": person.email, "password": PASSWORD}

    assert Client().post("/accounts/login/", sent)["Location"] == "/developers/"
    asked_for = Client().post("/accounts/login/?next=/vault/", {**sent, "next": "/vault/"})
    assert asked_for["Location"] == "/vault/"


def test_each_side_leads_to_the_other(client: Client, person: User) -> None:
    here, there = (client.get(path).content.decode() for path in ("/consent/", "/developers/"))

    assert 'class="menu-item" href="/developers/"' in here
    assert 'class="menu-item" href="/consent/"' in there
    assert 'href="/consent/history/"' not in there  # nor is its navigation that of people's data


def test_it_costs_one_read_and_nothing_is_written_again(client: Client, person: User) -> None:
    app = MemberFactory(user=person).app
    client.get("/developers/")

    with CaptureQueriesContext(connection) as seen:
        client.get(f"/developers/apps/{app.app_id}/")

    about = [query["sql"] for query in seen if "runtime_persona_state" in query["sql"]]
    assert len(about) == 1
    assert not [query["sql"] for query in seen if not query["sql"].startswith("SELECT")]
