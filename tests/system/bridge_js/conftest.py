"""The real application, an app's token, and a person whom Node can ask to decide."""

import pytest

from consent_bridge.owner import Owner
from tests.factories import PersonFactory
from tests.factories.accounts import PASSWORD
from tests.system.bridge.steps import FOOD, PASSPHRASE, forget_what_the_process_remembers
from tests.system.bridge_js.node import ROOT, install
from tests.system.bridge_js.person import Person


@pytest.fixture(autouse=True)
def _process_forgets():
    forget_what_the_process_remembers()
    yield
    forget_what_the_process_remembers()


@pytest.fixture(scope="session")
def package():
    """bridge-js/ with its dependency."""
    install(ROOT / "bridge-js")
    return ROOT / "bridge-js"


@pytest.fixture
def trip(service, transactional_db, api, monkeypatch):
    """The environment of a Node program that goes the whole way."""
    monkeypatch.setattr("consent.notices.streams.KEEP_ALIVE", 0.2)
    account = PersonFactory()
    with Owner(service) as owner:
        owner.sign_in(account.email, PASSWORD)
        owner.create_vault(PASSPHRASE)
        owner.write("lifestyle", "food", FOOD, base=0)
        with Person(owner) as person:
            yield {"SERVICE": service, "TOKEN": api.token, "USER_ID": account.public_id, "PERSON": person}
