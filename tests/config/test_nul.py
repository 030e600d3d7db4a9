"""A NUL in what somebody looks up by, for which PostgreSQL has no place: nothing has that name, and nothing breaks."""

import pytest
from django.db import connection

from accounts.models import User
from tests.callers import JsonClient

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/consent/grants/?grant=%00", "/consent/history/?app=a%00b", "/consent/?older=%00"])
def test_a_page_is_shown_all_the_same(owner: JsonClient, path: str) -> None:
    assert owner.client.get(path).status_code == 200


@pytest.mark.parametrize("body", ["scope=%00", "scope=attr.lifestyle.food.*%00&hide=1", "scope=&scope=%00&hide=1"])
def test_a_form_changes_nothing(owner: JsonClient, body: str) -> None:
    answer = owner.client.post("/vault/discovery/", body, content_type="application/x-www-form-urlencoded")

    assert answer.status_code in (302, 400, 404)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM hidden_scopes")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("text", ["a\0b", "\0", ["a\0b"]])
def test_the_database_is_asked_without_it(person: User, text: str | list[str]) -> None:
    names = [text] if isinstance(text, str) else text

    assert not User.objects.filter(display_name__in=names).exists()
    assert not User.objects.filter(display_name=names[0]).exists()
