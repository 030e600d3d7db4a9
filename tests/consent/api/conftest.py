"""Whom the developers' addresses are about."""

from collections.abc import Iterator

import pytest

from consent.api.polling import polls
from consent.discovery import counts


@pytest.fixture(autouse=True)
def _process_forgets() -> Iterator[None]:
    """Paces and discoveries that this process remembers do not cross from test to test."""
    polls.clear()
    counts._counts._counts.clear()
    yield
    polls.clear()
    counts._counts._counts.clear()
