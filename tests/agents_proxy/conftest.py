"""What every test of this room starts with."""

from collections.abc import Iterator
from typing import Any

import pytest
from joserfc.jwk import KeySet

from accounts.models import User
from agents_proxy import signing
from agents_proxy.analyses.models import Run
from agents_proxy.destinations.models import Destination
from agents_proxy.financial import refreshes
from developers.models import App
from examples.neighbourhood.serving import Server
from examples.reference_agents.__main__ import Agents as ReferenceAgents
from examples.reference_agents.consent import Consent
from examples.reference_agents.store import keep_in
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.forgetting import Forgetting, forgetting
from tests.agents_proxy.proxy_calls import configure, consenting, owning
from tests.agents_proxy.receivers import receiving
from tests.agents_proxy.runs import SUBMITTED, finished
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory
from tests.fakes.aggregator import Aggregator, aggregating
from tests.fakes.crm import Crm
from tests.fakes.serving import serving


@pytest.fixture
def person(db: None) -> User:
    """Ana, who is who she says: an analysis is about whoever verified the address."""
    return owning(PersonFactory(email=SUBMITTED["email"]))


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
def bank(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aggregator]:
    """An aggregator, which is asked again after a moment where it fails."""
    monkeypatch.setattr(refreshes, "RETRY_PAUSES", (0.01, 0.01))
    with aggregating() as stand_in:
        settings.AGGREGATOR = stand_in.settings()
        yield stand_in


@pytest.fixture
def empty_store() -> Iterator[None]:
    """The reference agents remember nobody."""
    keep_in(None)
    yield
    keep_in(None)


@pytest.fixture
def liking(person: User, agents: Agents) -> Run:
    """An ended analysis that says what somebody likes."""
    agents.replies = {"brand": {"likes": ["Muji"]}, "core": {"full_name": "Ana", "age": 4}}
    return finished(person)


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


@pytest.fixture
def there(agents: Agents, settings: Any) -> Iterator[Forgetting]:
    """Every agent of an analysis takes requests to delete."""
    with forgetting() as found:
        found.reached_by(settings, agents)
        yield found


@pytest.fixture
def caller(person: User) -> JsonClient:
    """Ana, who agreed to everything for her own calls."""
    return signed_in(consenting(person))


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The reference agents' own server, in this process, with the keys that the service publishes."""
    program = ReferenceAgents()
    with serving(Server(0, program)) as address:
        program.consent = Consent("http://localhost:8000", address)
        keys = KeySet.import_key_set(signing.public_keys())
        monkeypatch.setattr(program.consent, "_known", lambda **_: keys)
        yield address
