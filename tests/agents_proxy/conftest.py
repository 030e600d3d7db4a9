"""What every test of this room starts with."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents_proxy import limits
from tests.agents_proxy.asking import configure
from tests.agents_proxy.speaking import Agents, speaking


@pytest.fixture(autouse=True)
def _nobody_called_yet() -> None:
    """Limits that this process remembers do not cross from test to test."""
    limits.sessions.clear()
    limits.addresses.clear()


@pytest.fixture
def carrier(settings: Any) -> Iterator[Agents]:
    """The messaging agent."""
    with speaking() as agents:
        configure(settings, "messaging", url=f"{agents.address}/messaging")
        yield agents


@pytest.fixture
def agents(settings: Any) -> Iterator[Agents]:
    """The four agents of an analysis."""
    with speaking() as found:
        settings.AGENTS = {**settings.AGENTS, **found.settings()}
        yield found
