"""A NUL in the query or the form of a page, which PostgreSQL cannot even be asked for: 400, and nothing happens."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from tests.callers import JsonClient

pytestmark = pytest.mark.django_db
REFUSED = "We could not read that request"


@pytest.mark.parametrize(
    "path", ["/consent/grants/?grant=%00", "/consent/history/?app=a%00b", "/accounts/login/?next=%00", "/?%00=1"]
)
def test_a_query_is_refused(owner: JsonClient, path: str) -> None:
    answer = owner.client.get(path)

    assert answer.status_code == 400
    assert REFUSED in answer.content.decode()


@pytest.mark.parametrize("body", ["scope=&scope=%00", "scope=attr.lifestyle.food.*&%00=1"])
def test_a_form_is_refused(owner: JsonClient, body: str) -> None:
    answer = owner.client.post("/vault/discovery/", body, content_type="application/x-www-form-urlencoded")

    assert answer.status_code == 400
    assert REFUSED in answer.content.decode()


def test_a_form_with_a_file_is_refused(owner: JsonClient, person: User) -> None:
    picture, before = SimpleUploadedFile("a.png", b"\0\0", content_type="image/png"), person.display_name

    answer = owner.client.post("/account/name/", {"display_name": "a\0b", "photo": picture})

    assert answer.status_code == 400
    person.refresh_from_db()
    assert person.display_name == before


def test_a_file_may_have_one(owner: JsonClient) -> None:
    picture = SimpleUploadedFile("a.png", b"\0\0", content_type="image/png")

    assert owner.client.post("/account/name/", {"display_name": "a", "photo": picture}).status_code == 200


def test_programs_are_told_by_their_own_words() -> None:
    answer = Client().get("/api/v1/people?q=%00")

    assert answer["Content-Type"] == "application/problem+json"
