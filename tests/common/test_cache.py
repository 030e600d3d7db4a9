"""The cache that all processes share."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection

from common import heartbeats
from common.cache import forget_expired
from common.models import CacheEntry
from tests.patience import MOST_SECONDS

START = 1_800_000_000


@pytest.mark.django_db
def test_it_is_a_cache() -> None:
    assert cache.get("name") is None
    assert cache.get("name", 7) == 7
    cache.set("name", {"a": [1, "ä"]}, 30)
    assert cache.get("name") == {"a": [1, "ä"]}
    assert cache.add("name", "other") is False
    cache.set("name", "other", 30)
    assert cache.get("name") == "other"
    assert cache.touch("name", 60) is True
    assert cache.touch("no-name", 60) is False
    assert (cache.delete("name"), cache.delete("name")) == (True, False)
    cache.set_many({"one": 1, "two": 2})
    assert cache.get_many(["one", "two", "three"]) == {"one": 1, "two": 2}
    cache.clear()
    assert cache.get("one") is None


@pytest.mark.django_db
def test_an_entry_ends_with_its_time_and_not_before() -> None:
    with time_machine.travel(START, tick=False) as clock:
        cache.set("short", 1, 30)
        cache.set("lasting", 1, None)
        for number in range(400):  # what Django's own would make room for
            cache.add(f"junk-{number}", 1, 60)
        clock.shift(29)
        assert cache.get("short") == 1
        assert cache.add("short", 2, 30) is False
        clock.shift(1)
        assert cache.get("short") is None
        assert cache.add("short", 2, 30) is True
        assert cache.get("short") == 2
        clock.shift(3600)

        assert forget_expired() == 401
        assert cache.get("lasting") == 1
        assert CacheEntry.objects.count() == 1


def test_of_many_at_once_one_adds(transactional_db: None) -> None:  # each thread has a connection of its own
    at_once = threading.Barrier(8)

    def add(_: int) -> bool:
        try:
            at_once.wait(MOST_SECONDS)
            return cache.add("code", "used", 30)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(add, range(8))) == 1


@pytest.mark.django_db
def test_a_heartbeat_is_over_by_the_databases_clock_alone() -> None:
    heartbeats.beat("worker")
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        forget_expired()

    assert CacheEntry.objects.filter(key=heartbeats.key("worker")).exists()
