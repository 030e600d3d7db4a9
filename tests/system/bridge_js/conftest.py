"""The real application, an app's token, and a person whom Node can ask to decide."""

import pytest

from tests.factories import invitation_of
from tests.system.bridge.conftest import _process_forgets, caller, owner, person
from tests.system.bridge_js.node import ROOT, install
from tests.system.bridge_js.person import deciding

__all__ = ["_process_forgets", "caller", "owner", "person"]  # fixtures


@pytest.fixture(scope="session")
def package():
    """bridge-js/ with its dependency."""
    install(ROOT / "bridge-js")
    return ROOT / "bridge-js"


@pytest.fixture
def trip(service, api, owner, person, monkeypatch):
    """The environment of a Node program that goes the whole way."""
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    with deciding(owner) as address:
        yield {"SERVICE": service, "TOKEN": api.token, "USER_ID": invitation_of(person), "PERSON": address}
