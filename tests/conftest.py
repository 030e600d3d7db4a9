"""What every test can ask for."""

import gc
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from accounts.models import User
from common import limits
from developers.models import App
from tests.callers import Developer, JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory

pytest_plugins = ["tests.forms", "tests.slow_tests"]

# the machine's pace is nothing that an example can break; and what one run found, the next one need not begin with
hypothesis_settings.register_profile(
    "steady",
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("steady")

# Looking through nine thousand collected tests for garbage, again and again, costs time in every process.
gc.set_threshold(20_000, 20, 20)

# what waits for browsers and processes, longest first: begun first, its waiting is filled by everything else
_LONG = (
    "tests/config/test_headers", "tests/browser/test_open_pages", "tests/browser/test_profile",
    "tests/agents_proxy/test_worker", "tests/accounts/test_attempts_live", "tests/config/test_outage",
    "tests/bridge/live", "tests/browser/test_my_data", "tests/browser/test_every_page", "tests/browser/test_admin",
    "tests/browser", "tests/canary", "tests/consent/tools", "tests/mcp_ts", "tests/examples", "tests/lifecycle",
    "tests/contract/test_schemathesis",
)  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in the order in which `--dist loadfile --no-loadscope-reorder` hands them out.

    What is about SQLite's file is no test of a run on PostgreSQL, so it is left out there and not skipped. Two cases of
    one name are refused, since pytest-xdist runs the first of them alone and says nothing.
    """
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"Several cases are called {', '.join(twice)}.")
    if connection.vendor == "postgresql":
        elsewhere = [item for item in items if item.get_closest_marker("sqlite")]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]
    items.sort(key=lambda item: next((at for at, name in enumerate(_LONG) if item.nodeid.startswith(name)), len(_LONG)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there by now stays until the end: the collector need not look at it any more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: Any
) -> Iterator[None]:
    """A database as a deployment makes it; tests that commit can empty it in spite of its append-only tables."""
    from tests.database_flush import flush_around_triggers
    from tests.migrated import migrated_database

    with ExitStack() as after:
        with django_db_blocker.unblock():
            after.enter_context(migrated_database())
            after.enter_context(flush_around_triggers())
        yield
        with django_db_blocker.unblock():
            after.close()


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    """Rate limits and other memories of the process do not cross from test to test."""
    limits.forget_in_redis()
    Path(settings.LOG_SIGNER_FILE).unlink(missing_ok=True)  # it signed for the database of another test
    yield
    limits.forget_in_redis()


@pytest.fixture
def client_json() -> JsonClient:
    """A caller that nobody knows: JSON in, JSON out."""
    return JsonClient(Client())


@pytest.fixture
def app(db: None) -> App:
    """An active, verified app."""
    made: App = AppFactory()
    return made


@pytest.fixture
def api(app: App) -> Developer:
    """The developer of `app`, calling with a token of all permissions; `api.token` is the token itself."""
    return Developer.of(app)


@pytest.fixture
def person(db: None) -> User:
    """Somebody with a password and no vault yet."""
    made: User = PersonFactory()
    return made


@pytest.fixture
def owner(person: User) -> JsonClient:
    """`person`, signed in just now, at the owner's addresses."""
    return signed_in(person)


@pytest.fixture
def service(live_server: Any, settings: Any) -> str:
    """The real application on a real socket, with the address that it thinks it has."""
    settings.BASE_URL = settings.ISSUER = live_server.url
    settings.CSRF_TRUSTED_ORIGINS = [live_server.url]
    return str(live_server.url)
