"""Who calls the tools, and about whom."""

import pytest

from developers.models import App
from tests.consent.api.conftest import _process_forgets
from tests.consent.conftest import vault
from tests.consent.tools.hosts import NEWEST, PREVIOUS, Host

__all__ = ["_process_forgets", "any_host", "host", "vault"]  # fixtures, some of which are those of the addresses


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
