"""A NUL in what somebody looks up by, for which PostgreSQL has no place: nothing has that name, and nothing breaks."""

import pytest

from accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", ["a\0b", "\0", ["a\0b"]])
def test_the_database_is_asked_without_it(person: User, text: str | list[str]) -> None:
    names = [text] if isinstance(text, str) else text

    assert not User.objects.filter(display_name__in=names).exists()
    assert not User.objects.filter(display_name=names[0]).exists()
