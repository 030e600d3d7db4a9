"""Who calls the tools, and about whom."""

from collections.abc import Iterator

import pytest

from accounts.models import User
from consent.api.polling import polls
from consent.discovery import counts
from developers.models import App
from tests.consent.tools.hosts import NEWEST, PREVIOUS, Host
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
def host(app: App) -> Host:
    """A host of `app` on the newest revision, with a token of all permissions."""
    return Host.of(app)


@pytest.fixture(params=[NEWEST, PREVIOUS])
def any_host(app: App, request: pytest.FixtureRequest) -> Host:
    """The same on the newest and on the previous revision."""
    made = Host.of(app)
    made.revision = request.param
    return made


@pytest.fixture
def vault(person: User) -> Vault:
    """`person` with some food in an active vault."""
    return give_vault(person)
