"""The asynchronous client offers what the other one does; that it does the same, each test of a `client` shows."""

import asyncio
import inspect

import pytest

from consent_bridge.aio import AsyncClient
from consent_bridge.aio_sandbox import AsyncSandboxPerson
from consent_bridge.client import Client
from consent_bridge.errors import BadAnswer, KeyRefused, Problem
from consent_bridge.holder import VaultHolder
from consent_bridge.sandbox import SandboxPerson
from tests.bridge.fake_service import Reply, problem
from tests.bridge.wire import TOKEN


@pytest.fixture
def run(fake, pauses):
    """Run a coroutine function with a client against the fake."""

    async def pause(seconds):
        pauses.append(seconds)

    def run(act, **options):
        async def inside():
            async with AsyncClient(f"{fake.url}/api/v1/", TOKEN, pause=pause, **options) as client:
                return await act(client)

        return asyncio.run(inside())

    return run


def public_methods(kind):
    return {
        name: inspect.signature(call)
        for name, call in vars(kind).items()
        if callable(call) and not name.startswith("_")
    }


def test_both_clients_offer_the_same():
    def shape(kind):
        return {name: list(found.parameters.values()) for name, found in public_methods(kind).items()}

    assert shape(AsyncClient) == shape(Client)


def test_a_person_is_played_alike_by_both():
    played = {**public_methods(VaultHolder), **public_methods(SandboxPerson)}

    assert {name: list(found.parameters) for name, found in public_methods(AsyncSandboxPerson).items()} == {
        name: list(found.parameters) for name, found in played.items()
    }
    assert {"user_id", "vault_key", "label"} <= set(dir(AsyncSandboxPerson))


def test_a_person_is_played_by_the_clients_own_calls(fake, run):
    """With its token, its limits and its errors; a read is tried again, a decision never."""
    fake.on("GET", "/api/v1/sandbox/people/usr_a/keys", problem("temporarily_unavailable", 503), Reply({"user_id": 1}))
    fake.on("POST", "/api/v1/sandbox/people/usr_a/clock", problem("temporarily_unavailable", 503))

    async def act(client):
        person = client.sandbox_person("usr_a")
        with pytest.raises(BadAnswer):
            await person.vault()
        with pytest.raises(Problem) as refused:
            await person.expire(60)
        with pytest.raises(KeyRefused):
            _ = person.vault_key
        return refused.value

    assert run(act).code == "temporarily_unavailable"
    assert [(call.method, call.headers["authorization"]) for call in fake.received] == [
        ("GET", f"Bearer {TOKEN}"), ("GET", f"Bearer {TOKEN}"), ("POST", f"Bearer {TOKEN}")
    ]  # fmt: skip
