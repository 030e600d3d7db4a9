"""Whom the developers' addresses are about."""

from collections.abc import Iterator

import pytest

from consent.discovery import counts


@pytest.fixture(autouse=True)
def _process_forgets() -> Iterator[None]:
    """Discoveries that this process remembers do not cross from test to test."""
    counts._counts._counts.clear()
    yield
    counts._counts._counts.clear()
