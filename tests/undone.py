"""Rows that several tests of a module share: made once, and undone after the last of them.

    @pytest.fixture(scope="module")
    def made(django_db_setup, django_db_blocker):
        with undone(django_db_blocker):
            yield make_world()

    @pytest.fixture
    def world(made, django_db_blocker):
        with undone(django_db_blocker):
            yield deepcopy(made)

What each test does is undone as well. Such a test asks for no other database fixture: pytest-django's closes the
connection, and with it the transaction that holds the rows.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction


@contextmanager
def undone(django_db_blocker: Any) -> Iterator[None]:
    """What happens inside leaves nothing in the database."""
    Path(settings.LOG_SIGNER_FILE).unlink(missing_ok=True)  # of the database as it was before
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
