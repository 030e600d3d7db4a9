"""What every test of this room starts with."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents_proxy.proxy import limits as proxy_limits
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.proxy_calls import configure


@pytest.fixture(autouse=True)
def _nobody_called_yet() -> None:
    """Limits that this process remembers do not cross from test to test."""
    proxy_limits.sessions.clear()
    proxy_limits.addresses.clear()


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
