"""What every test of this room starts with."""

import pytest

from agents_proxy import limits


@pytest.fixture(autouse=True)
def _nobody_called_yet() -> None:
    """Limits that this process remembers do not cross from test to test."""
    limits.sessions.clear()
    limits.addresses.clear()
