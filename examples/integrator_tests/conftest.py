"""What the tests of an integration need: a service, a test app's token, and a person who decides at once."""

import os
from collections.abc import Iterator

import pytest

from consent_bridge.client import Client
from consent_bridge.keys import Jwk, generate_connector_key
from consent_bridge.sandbox import SandboxPerson


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Your app at the service of CONSENT_BASE_URL, with the test token of CONSENT_DEVELOPER_TOKEN."""
    with Client(os.environ["CONSENT_BASE_URL"], os.environ["CONSENT_DEVELOPER_TOKEN"]) as made:
        yield made


@pytest.fixture
def person(client: Client) -> Iterator[SandboxPerson]:
    """Somebody with a whole synthetic profile, for one test: an app has at most 20 at a time."""
    with client.make_sandbox_person("integration tests") as made:
        made.fill()
        yield made


@pytest.fixture
def key() -> Jwk:
    """Your connector key. Your own tests use the one that your app reads with."""
    return generate_connector_key()
