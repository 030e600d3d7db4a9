"""Fixtures of the bridge's tests: the shared vectors and the command line. No Django here."""

import asyncio
import inspect
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.cases import VECTORS
from consent_bridge.aio import AsyncClient
from consent_bridge.cli import main
from consent_bridge.client import Client
from consent_bridge.owner import Owner
from consent_bridge.sealed import ExportHeader
from tests.bridge.fake_service import FakeService, running
from tests.bridge.fake_site import FOOD, LOGIN, PASSPHRASE, PASSWORD, FakeSite
from tests.bridge.remembered import CUISINE, status
from tests.bridge.wire import TOKEN

NOT_IN_EXPORT_HEADER = {"alg", "enc", "typ", "cty"}

RunCli = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    return json.loads((VECTORS / "sealed.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def vault_key(vectors) -> bytes:
    return bytes.fromhex(vectors["vault"]["vault_key_hex"])


@pytest.fixture(scope="session")
def export_headers(vectors) -> list[ExportHeader]:
    return [
        ExportHeader(**{name: value for name, value in export["header"].items() if name not in NOT_IN_EXPORT_HEADER})
        for export in vectors["exports"]
    ]


@pytest.fixture
def state(tmp_path) -> Path:
    return tmp_path / "state"


@contextmanager
def _logging_unchanged() -> Iterator[None]:
    """`serve` silences every logger but its own, for as long as its process lives."""
    loggers = (logging.root, logging.getLogger("consent_bridge"))
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    try:
        yield
    finally:
        for logger, handlers, propagate, level in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


@pytest.fixture
def cli(state, monkeypatch) -> RunCli:
    """Run a command of `consent-bridge` in this process, with standard streams of its own."""

    def run(*arguments: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
        streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
        with monkeypatch.context() as own, _logging_unchanged():
            for name in [name for name in os.environ if name.startswith("CONSENT_")]:
                own.delenv(name)
            for name, value in {"CONSENT_BRIDGE_STATE": str(state), **environ}.items():
                own.setenv(name, value)
            own.setattr(sys, "argv", ["consent-bridge", *arguments])
            own.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            for name, stream in streams.items():
                own.setattr(sys, name, stream)
            try:
                code = main([os.fspath(argument) for argument in arguments])
            except SystemExit as ended:  # as argparse ends
                code = ended.code
        for stream in streams.values():
            stream.flush()
        return subprocess.CompletedProcess(arguments, code, *(stream.buffer.getvalue() for stream in streams.values()))

    return run


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with running() as fake:
        yield fake


@pytest.fixture
def key_file(tmp_path, vectors):
    path = tmp_path / "app.jwk"
    path.write_text(json.dumps(vectors["exports"][0]["connector_private_key"]))
    return path


@pytest.fixture
def export(vectors):
    return vectors["exports"][0]


@pytest.fixture
def pauses():
    return []


class Waited:
    """The asynchronous client, called as the other one is: each of its calls is waited for."""

    def __init__(self, url, pauses, **options):
        async def pause(seconds):
            pauses.append(seconds)

        self._loop = asyncio.new_event_loop()
        self._made = AsyncClient(url, TOKEN, pause=pause, **options)

    def __getattr__(self, name):
        found = getattr(self._made, name)
        return (lambda *given, **named: self._wait(found(*given, **named))) if callable(found) else found

    def _wait(self, answer):
        if hasattr(answer, "__aiter__"):
            return self._each(answer)
        return self._loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

    def _each(self, answers):
        try:
            while True:
                yield self._loop.run_until_complete(anext(answers))
        except StopAsyncIteration:
            return
        finally:
            self._loop.run_until_complete(answers.aclose())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._loop.run_until_complete(self._made.__aexit__(None, None, None))
        self._loop.close()


@pytest.fixture(params=["waiting", "asynchronous"])
def make_client(request, fake, pauses):
    """Either client, so that both are held to the same."""

    def make(**options):
        url = f"{fake.url}/api/v1/"
        if request.param == "waiting":
            return Client(url, TOKEN, pause=pauses.append, **options)
        return Waited(url, pauses, **options)

    return make


@pytest.fixture
def client(make_client):
    with make_client() as made:
        yield made


@pytest.fixture
def hasty_client(make_client):
    """One that gives an answer half a second."""
    with make_client(read_timeout=0.5) as made:
        yield made


@pytest.fixture
def site(fake):
    return FakeSite(fake)


@pytest.fixture
def owner(fake, site):
    with Owner(fake.url, read_timeout=20.0) as made:
        made.sign_in(LOGIN, PASSWORD)
        yield made


@pytest.fixture
def unlocked(owner):
    owner.create_vault(PASSPHRASE)
    owner.write("lifestyle", "food", FOOD, base=0)
    owner.write("lifestyle", "fitness", {"gym_membership": "none"}, base=0)
    return owner


@pytest.fixture
def approved(unlocked, site):
    """The status of a continuous grant of the cuisine, as the service tells it."""
    site.request["refresh_policy"] = "continuous"
    unlocked.approve(unlocked.review("req_a"), attributes=[CUISINE], access_duration=3600)
    return status(CUISINE)
