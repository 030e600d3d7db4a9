"""What every test of this room starts with."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents_proxy.destinations.models import Destination
from agents_proxy.proxy import limits as proxy_limits
from developers.models import App
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.proxy_calls import configure
from tests.agents_proxy.receivers import receiving
from tests.factories import AppFactory
from tests.fakes.crm import Crm


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


@pytest.fixture
def shop(db: None) -> App:
    made: App = AppFactory(name="Trip Planner", origins=["https://trips.example"])
    return made


@pytest.fixture
def received(settings: Any, shop: App) -> Iterator[tuple[type[Crm], Destination]]:
    with receiving(settings, shop) as found:
        yield found


@pytest.fixture
def crm(received: tuple[type[Crm], Destination]) -> type[Crm]:
    return received[0]


@pytest.fixture
def destination(received: tuple[type[Crm], Destination]) -> Destination:
    return received[1]
