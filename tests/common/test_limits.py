"""Limits that all processes share."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
import time_machine
from django.conf import settings
from django.db import connection

from common import limits
from common.limits import Limit
from common.models import RateCount
from tests.counts import PLACES, counts_in
from tests.patience import MOST_SECONDS

THREE = Limit("three", 3, 60)


@pytest.fixture(params=PLACES)
def store(request: pytest.FixtureRequest, db: None) -> Iterator[str]:
    """Both places that counts are kept in, where this run has the second."""
    with counts_in(request.param):
        yield request.param


def test_a_limit_passes_as_many_as_it_allows(store: str) -> None:
    counted = [limits.count(THREE, "somebody") for _ in range(5)]

    assert [found.exceeded for found in counted] == [False, False, False, True, True]
    assert [found.remaining for found in counted] == [2, 1, 0, 0, 0]
    assert all(1 <= found.resets_in <= 60 for found in counted)


def test_keys_and_limits_are_counted_apart(store: str) -> None:
    for _ in range(3):
        limits.count(THREE, "somebody")

    assert limits.count(THREE, "somebody else").used == 1
    assert limits.count(Limit("another", 3, 60), "somebody").used == 1


def test_looking_counts_nothing(store: str) -> None:
    limits.count(THREE, "somebody")

    assert [limits.look(THREE, "somebody").used for _ in range(3)] == [1, 1, 1]
    assert limits.look(THREE, "nobody").used == 0


def test_what_is_forgotten_begins_anew(store: str) -> None:
    limits.count(THREE, "somebody", amount=3)

    limits.forget(THREE, "somebody")

    assert limits.count(THREE, "somebody").used == 1


def test_no_limit_is_none(store: str) -> None:
    off = Limit("off", 0, 60)

    assert not any(limits.count(off, "somebody").exceeded for _ in range(10))
    assert limits.headers([limits.count(off, "somebody")]) == {}


def test_headers_say_the_policy_and_what_is_left(store: str) -> None:
    found = limits.headers([limits.count(THREE, "somebody"), limits.count(Limit("off", 0, 60), "somebody")])

    assert found["RateLimit-Policy"] == '"three";q=3;w=60'
    assert found["RateLimit"].startswith('"three";r=2;t=')


def test_a_window_ends(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "")
    with time_machine.travel(1_800_000_000, tick=False) as clock:
        for _ in range(4):
            limits.count(THREE, "somebody")
        clock.shift(59)
        assert limits.count(THREE, "somebody").exceeded
        clock.shift(1)

        assert limits.look(THREE, "somebody").used == 0
        assert limits.count(THREE, "somebody").used == 1
        clock.shift(60)
        assert limits.forget_expired() == 1


def test_the_store_names_nobody(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "")

    limits.count(THREE, "person@example.org")

    assert "person" not in str(list(RateCount.objects.values()))


def test_a_redis_that_is_away_is_no_hindrance(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(limits, "_ask_again_at", 0.0)

    counted = [limits.count(THREE, "somebody").exceeded for _ in range(4)]

    assert counted == [False, False, False, True]
    assert RateCount.objects.count() == 1


# it commits, since each thread has a connection of its own
def test_exactly_the_allowed_number_passes_at_once(transactional_db: None) -> None:
    allowed, at_once = Limit("race", 25, 60), threading.Barrier(8)

    def hammer(_: int) -> int:
        try:
            at_once.wait(MOST_SECONDS)
            return sum(not limits.count(allowed, "everybody").exceeded for _ in range(20))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        passed = sum(pool.map(hammer, range(8)))

    assert passed == 25


def test_the_store_of_this_run_is_the_one_it_names(db: None) -> None:
    limits.forget_all()
    limits.count(THREE, "somebody")

    kept = RateCount.objects.count()
    if settings.REDIS_URL:
        store = redis.Redis.from_url(settings.REDIS_URL)
        assert len(list(store.scan_iter(f"limit:{connection.settings_dict['NAME']}:*"))) == 1
        assert kept == 0
    else:
        assert kept == 1
