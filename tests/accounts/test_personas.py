"""Which side opens first: the one that was opened last, for somebody who signs in too."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import ActorProfile, Persona, RuntimePersonaState, User
from accounts.personas import side_of
from tests.factories import MemberFactory, PersonFactory, StaffFactory, TestAppFactory, give_vault
from tests.factories.accounts import PASSWORD
from tests.staff import at_the_admin

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> User:
    made: User = PersonFactory()
    client.force_login(made)
    return made


def test_the_side_that_was_opened_last_opens_first(client: Client, person: User) -> None:
    assert client.get("/")["Location"] == "/consent/"
    assert RuntimePersonaState.objects.get().last_active_persona == "person"  # as of their first sign-in

    client.get("/developers/")
    assert client.get("/")["Location"] == "/developers/"

    client.get("/consent/")
    assert client.get("/")["Location"] == "/consent/"
    assert side_of(person) is Persona.PERSON


@pytest.mark.parametrize("path", ["/consent/apps/", "/consent/history/", "/vault/", "/profile/"])
def test_any_page_of_the_consent_app_is_that_side(client: Client, person: User, path: str) -> None:
    give_vault(person)
    client.get("/developers/")

    assert client.get(path).status_code == 200
    assert client.get("/")["Location"] == "/consent/"


@pytest.mark.parametrize("page", ["", "tokens/", "sandbox/", "webhooks/", "log/", "keys/", "limits/", "members/"])
def test_any_page_of_the_portal_is_that_side(client: Client, person: User, page: str) -> None:
    app = MemberFactory(user=person, app=TestAppFactory()).app

    assert client.get(f"/developers/apps/{app.app_id}/{page}").status_code == 200
    assert client.get("/")["Location"] == "/developers/"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/docs/", 200),
        ("/accounts/email/", 200),
        ("/developers/apps/app_nobodys/", 404),
        ("/developers/applications/new", 301),
        ("/consent/requests/req_nobodys/", 404),
        ("/vault/keys", 200),
    ],
)
def test_what_is_of_no_side_or_was_refused_opens_none(client: Client, person: User, path: str, status: int) -> None:
    client.get("/consent/" if path.startswith("/developers/") else "/developers/")
    before = side_of(person)

    assert client.get(path).status_code == status
    assert side_of(person) is before


def test_of_a_stranger_nothing_is_remembered(client: Client) -> None:
    assert client.get("/consent/verify/").status_code == 200
    assert not RuntimePersonaState.objects.exists()


def test_a_developer_lands_in_the_portal_after_signing_in(person: User) -> None:
    RuntimePersonaState.objects.update(last_active_persona="developer")
    sent = {"login": person.email, "password": PASSWORD}

    assert Client().post("/accounts/login/", sent)["Location"] == "/developers/"
    answer = Client().post("/accounts/login/?next=/vault/", {**sent, "next": "/vault/"})
    assert answer["Location"] == "/vault/"


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


def personas_of(person: User) -> list[str]:
    return list(ActorProfile.objects.get(user=person).personas)


def test_the_sides_that_somebody_uses_are_gathered(client: Client, person: User) -> None:
    assert personas_of(person) == ["person"]

    client.get("/developers/")
    client.get("/consent/")

    assert personas_of(person) == ["person", "developer"]
    assert ActorProfile.objects.get(user=person).last_active_persona == "person"


def test_staff_are_staff_as_of_their_next_sign_in_and_no_longer_than_that(client: Client, person: User) -> None:
    client.get("/developers/")
    for is_staff, personas in ((True, ["person", "developer", "staff"]), (False, ["person", "developer"])):
        person.is_staff = is_staff
        person.save()
        Client().force_login(person)
        assert personas_of(person) == personas


def test_staff_see_the_sides_in_use_the_last_one_first(client: Client, person: User) -> None:
    client.get("/developers/")
    admin = at_the_admin(StaffFactory())

    page = " ".join(admin.get(f"/admin/accounts/user/{person.pk}/change/").content.decode().split())

    assert "Developer, Person" in page
    assert page.count("Sides in use") == 1


def test_staff_see_no_side_of_somebody_who_never_signed_in(db: None) -> None:
    admin = at_the_admin(StaffFactory())

    page = " ".join(admin.get(f"/admin/accounts/user/{PersonFactory().pk}/change/").content.decode().split())

    assert '<div class="readonly">-</div>' in page
