"""What every test can ask for."""

import gc
import logging
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest import runner
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from django.conf import settings
from django.db import connection
from django.template import Context
from django.template.base import Template
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers
from pytest_django.plugin import blocking_manager_key

from accounts.models import User
from agents_proxy.proxy import a2a, credentials
from common import limits
from consent.verification import entries, people
from consent_bridge import wrappers
from developers.models import App
from tests.callers import Developer, JsonClient, signed_in
from tests.counts import forget_outside
from tests.factories import AppFactory, PersonFactory
from tests.least_rights import refuse_unlisted_deletes
from tests.patience import MOST_SECONDS, not_over_midnight

pytest_plugins = ["tests.tiers"]

# the machine's pace is nothing that an example can break, and every run has the same examples
hypothesis_settings.register_profile(
    "steady",
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("steady")
# Constants of whatever modules happen to be imported would make other examples of another order of the tests; to look
# for them took each process seconds.
providers._get_local_constants = providers.Constants

# No test looks at the format of an IRI, and to import what does so compiles a grammar for a second and a half.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # as for a module that is not installed

# in the runs of a busy machine a quarter of a second is no sign that Redis is away
limits._REDIS_TIMEOUT = MOST_SECONDS

# Nothing happens beside the test while a verification looks again.
people.PAUSE = entries.PAUSE = 0

# Looking through nine thousand collected tests for garbage, again and again, costs time in every process.
gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def _within_the_servers_rights() -> Iterator[None]:
    if connection.vendor != "postgresql":  # which alone has roles
        yield
        return
    with connection.execute_wrapper(refuse_unlisted_deletes):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long forms of the tests that are marked `long`")


@pytest.fixture(scope="session")
def long_form(request: pytest.FixtureRequest) -> bool:
    """Whether tests that are marked `long` run in their long form."""
    return bool(request.config.getoption("--long"))


def _with_room(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    return call(*arguments, **options)


# Python keeps the frames of calls in pieces of 16 kB, and gives a piece back as soon as a call returns from it: a loop
# whose calls lie on either side of the end of one asks the system for memory each time, two thousand times in a test.
# A call that says that it needs a MiB is given two, and what is called inside it shares the rest.
_with_room.__code__ = _with_room.__code__.replace(co_stacksize=2**17)
runner.runtestprotocol = partial(_with_room, runner.runtestprotocol)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> Generator[None, Any, Any]:
    """What has a long form alone is not collected without `--long`: schemathesis would first draw its every case."""
    made = yield
    return [] if _is_long_alone(collector.config, getattr(obj, "pytestmark", ())) else made


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not for this database, and refuse two cases of one name.

    What is about SQLite's file is no test of a run on PostgreSQL, and what has a long form alone is none of a run
    without `--long`, so it is left out there and not skipped. Two cases of one name are refused, since pytest-xdist
    runs the first of them alone and says nothing.
    """
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:
        raise pytest.UsageError(f"Several cases are called {', '.join(twice)}.")
    left_out = {item for item in items if _is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _is_left_out(item: pytest.Item) -> bool:
    if connection.vendor == "postgresql" and item.get_closest_marker("sqlite"):
        return True
    return _is_long_alone(item.config, item.iter_markers())


def _is_long_alone(config: pytest.Config, marks: Iterable[pytest.Mark]) -> bool:
    return not config.getoption("--long") and any(mark.name == "long" and mark.kwargs.get("only") for mark in marks)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Between two tests as between two requests: a connection that broke fails one test, and not all that follow."""
    if connection.errors_occurred:
        with item.config.stash[blocking_manager_key].unblock():
            connection.close_if_unusable_or_obsolete()


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there by now stays until the end: the collector need not look at it any more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: Any
) -> Iterator[None]:
    """A database as a deployment makes it."""
    from tests.database import migrated_database

    with django_db_blocker.unblock(), migrated_database(), django_db_blocker.block():
        yield


@pytest.fixture(scope="session", autouse=True)
def _contexts_of_pages(django_test_environment: None) -> None:
    """`answer.context` is that of the page; to copy it for each part, icons too, took a tenth of a page's time."""
    noted = Template._render

    def rendered(self: Template, context: Context) -> Any:
        return noted(self, context) if context.template is self else self.nodelist.render(context)

    Template._render = rendered


@pytest.fixture
def real_passphrases() -> None:
    """For what another program sealed, or is to open: passphrases are stretched as they say."""


@pytest.fixture(autouse=True)
def _quick_passphrases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A passphrase is stretched in a thousand rounds, whatever its wrapper says: a vault costs 0.2 s otherwise."""
    if "real_passphrases" not in request.fixturenames and not request.node.nodeid.startswith("tests/system/"):
        monkeypatch.setattr(wrappers, "PBKDF2HMAC", _quick_pbkdf2)


def _quick_pbkdf2(algorithm: Any, length: int, salt: bytes, _iterations: int) -> PBKDF2HMAC:
    return PBKDF2HMAC(algorithm, length, salt, 1_000)


@pytest.fixture(autouse=True)
def _nothing_remembered(request: pytest.FixtureRequest) -> Iterator[None]:
    """Rate limits and other memories of the process do not cross from test to test."""
    Path(settings.LOG_SIGNER_FILE).unlink(missing_ok=True)  # it signed for the database of another test
    before, level = limits._client.cache_info(), logging.root.level
    yield
    limits._paces.clear()
    a2a._cards.clear()  # by address: the next agent may well listen on the same port
    credentials._tokens.clear()
    if limits._client.cache_info() != before or request.node.nodeid.startswith(
        "tests/system/"
    ):  # a server of the test counts, too
        forget_outside()
    left = logging.root.level
    logging.root.setLevel(level)
    assert left == level, "the test leaves another level of logging, which may silence what later tests look for"


@pytest.fixture
def one_day() -> None:
    """What is counted by the day falls on one day; PostgreSQL's own clock cannot be set for a test."""
    not_over_midnight()


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
