"""The real application on a real socket, an app that calls it, and a person with a vault."""

import pytest

from consent_bridge.client import Client
from consent_bridge.owner import Owner
from consent_bridge.sealed import generate_connector_key
from tests.bridge.conftest import cli, state
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.system.bridge.steps import FOOD, PASSPHRASE, forget_what_the_process_remembers

__all__ = ["cli", "state"]


@pytest.fixture(autouse=True)
def _process_forgets():
    forget_what_the_process_remembers()
    yield
    forget_what_the_process_remembers()


@pytest.fixture
def caller(service, transactional_db, api):
    with Client(f"{service}/api/v1", api.token) as made:
        yield made


@pytest.fixture
def person(transactional_db):
    return PersonFactory()


@pytest.fixture
def owner(service, person):
    """A person with a vault that holds some food, made over HTTP."""
    with Owner(service) as made:
        made.sign_in(person.email, PASSWORD)
        made.create_vault(PASSPHRASE)
        made.write("lifestyle", "food", FOOD, base=0)
        yield made


@pytest.fixture(params=["X25519", "P-256"])
def key(request):
    return generate_connector_key(request.param)
