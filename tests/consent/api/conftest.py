"""Whom the developers' addresses are about."""

from collections.abc import Iterator

import pytest

from accounts.models import User
from consent.api.polling import polls
from consent.discovery import counts
from tests.factories import Vault, give_vault


@pytest.fixture(autouse=True)
def _process_forgets() -> Iterator[None]:
    """Paces and discoveries that this process remembers do not cross from test to test."""
    polls.clear()
    counts._counts._counts.clear()
    yield
    polls.clear()
    counts._counts._counts.clear()


@pytest.fixture
def vault(person: User) -> Vault:
    """`person` with some food in an active vault."""
    return give_vault(person)
