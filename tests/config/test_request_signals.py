"""What a server process leaves out around each request: only what finds nothing to do there."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import CacheHandler, close_caches
from django.core.cache.backends.locmem import LocMemCache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections, reset_queries

from config import request_signals

OWN: list[tuple[Any, Callable[..., None]]] = [
    (request_started, reset_queries),
    (request_started, close_old_connections),
    (request_finished, close_caches),
]


class Closing(LocMemCache):
    """A cache that has something to do at the end of a request."""

    def close(self, **_: Any) -> None:
        """Nothing of interest here."""


@pytest.fixture(autouse=True)
def _as_django_has_them() -> Iterator[None]:
    for signal, receiver in OWN:
        signal.connect(receiver)
    yield
    for signal, receiver in OWN:
        signal.connect(receiver)


def left_out() -> list[str]:
    """The names of the receivers that are not connected after a server process has started."""
    request_signals.leave_out_idle_receivers()
    return [receiver.__name__ for signal, receiver in OWN if not signal.disconnect(receiver)]


def test_what_has_nothing_to_do_is_left_out() -> None:
    assert left_out() == ["reset_queries", "close_old_connections", "close_caches"]
    assert request_finished.disconnect(close_old_connections)
    request_finished.connect(close_old_connections)


def test_queries_that_are_kept_are_dropped(settings: Any) -> None:
    settings.DEBUG = True

    assert left_out() == ["close_old_connections", "close_caches"]


def test_connections_that_stay_are_looked_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 60)

    assert left_out() == ["reset_queries", "close_caches"]


def test_a_cache_that_closes_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = f"{__name__}.Closing"
    monkeypatch.setattr(request_signals, "caches", CacheHandler({"default": {"BACKEND": backend}}))

    assert left_out() == ["reset_queries", "close_old_connections"]
