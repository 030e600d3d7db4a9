"""The portal's first page: the apps that somebody manages, and a test app for the asking."""

import pytest
from django.test import Client

from developers.models import App, AppAuditEntry, AppMember
from tests.factories import PersonFactory


@pytest.fixture
def developer(client: Client, db: None) -> Client:
    client.force_login(PersonFactory())
    return client


def test_somebody_new_makes_a_test_app_and_owns_it(developer: Client) -> None:
    assert "You manage no app yet." in developer.get("/developers/").content.decode()

    answer = developer.post("/developers/apps/", {"name": " Lunch Finder "})

    app = App.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/developers/apps/{app.app_id}/tokens/")
    assert (app.name, app.mode, app.status, app.application, app.verified) == (
        "Lunch Finder", "test", "active", None, False,
    )  # fmt: skip
    assert AppMember.objects.values_list("app", "role").get() == (app.pk, "owner")
    assert AppAuditEntry.objects.values_list("action", "facts").get() == ("app.made", {"name": "Lunch Finder"})
    for path in (answer["Location"], f"/developers/apps/{app.app_id}/"):
        page = developer.get(path)
        assert page.status_code == 200
        assert app.app_id in page.content.decode()


@pytest.mark.parametrize("name", ["", "a" * 81, "Lunch\nFinder", "Lunch\u202eFinder"])
def test_a_name_that_would_mislead_makes_nothing(developer: Client, name: str) -> None:
    answer = developer.post("/developers/apps/", {"name": name})

    assert answer.status_code == 400
    assert not App.objects.exists()


def test_nobody_owns_more_than_twenty_test_apps(developer: Client) -> None:
    answers = [developer.post("/developers/apps/", {"name": f"App {number}"}).status_code for number in range(21)]

    assert answers == [302] * 20 + [400]
