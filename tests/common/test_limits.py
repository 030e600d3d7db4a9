"""Limits that all processes share."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import redis
import time_machine
from django.conf import settings
from django.db import connection

from common import limits
from common.limits import Limit, Pace, pace
from common.models import RateCount
from common.problems import TooManyRequests
from tests.counts import PLACES, counts_in, forget_all
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

    assert [limits.peek(THREE, "somebody").used for _ in range(3)] == [1, 1, 1]
    assert limits.peek(THREE, "nobody").used == 0


def test_what_is_forgotten_begins_anew(store: str) -> None:
    limits.count(THREE, "somebody", amount=3)

    limits.forget(THREE, "somebody")

    assert limits.count(THREE, "somebody").used == 1


def test_no_limit_is_none(store: str) -> None:
    off = Limit("off", 0, 60)

    assert not any(limits.count(off, "somebody").exceeded for _ in range(10))
    assert limits.headers([limits.count(off, "somebody")]) == {}


def test_a_pace_lets_a_burst_through_and_then_so_many_a_second() -> None:
    kept, limit = Pace(), pace("pace", burst=2, per_second=0.5)

    def taken(at: float) -> tuple[bool, int, int]:
        found = kept.count(limit, "somebody", 1, now=at)
        return found.exceeded, found.remaining, found.wait

    assert [taken(0), taken(0), taken(0), taken(1.5)] == [(False, 1, 0), (False, 0, 0), (True, 0, 2), (True, 0, 1)]
    assert [taken(2), taken(2.5)] == [(False, 0, 0), (True, 0, 2)]
    assert [taken(100), taken(100), taken(100)] == [(False, 1, 0), (False, 0, 0), (True, 0, 2)]


def test_a_pace_says_when_it_is_whole_again_and_looking_takes_nothing() -> None:
    kept, limit = Pace(), pace("pace", burst=4, per_second=0.5)

    kept.count(limit, "somebody", 1, now=0)
    looked = [kept.count(limit, key, 0, now=1) for key in ("somebody", "somebody", "nobody")]

    assert [(found.remaining, found.resets_in) for found in looked] == [(3, 2), (3, 2), (4, 1)]
    assert len(kept) == 1
    assert limits.headers(looked[:1]) == {"RateLimit-Policy": '"pace";q=4;w=8', "RateLimit": '"pace";r=3;t=2'}


def test_a_pace_is_kept_for_each_key_and_its_memory_is_bounded() -> None:
    kept, limit = Pace(remembered=100), pace("pace", burst=1, per_second=1)

    for number in range(1000):
        assert not kept.count(limit, f"key {number}", 1, now=0).exceeded

    assert len(kept) == 100
    assert kept.count(limit, "key 999", 1, now=0).exceeded
    assert not kept.count(limit, "key 0", 1, now=0).exceeded


@pytest.mark.parametrize(("burst", "per_second"), [(0, 2), (2, 0)])
def test_zero_is_no_pace(burst: int, per_second: int) -> None:
    limit = pace("pace", burst=burst, per_second=per_second)

    assert not any(limits.count(limit, "somebody").exceeded for _ in range(10))
    assert limits.headers([limits.peek(limit, "somebody")]) == {}


def test_a_pace_asks_no_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a database for this test, and with no Redis at the address."""
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    limit = pace("pace", burst=2, per_second=0.001)

    assert [limits.count(limit, "somebody").exceeded for _ in range(3)] == [False, False, True]


def test_a_count_that_a_statement_reads_along_lies_in_the_database(store: str) -> None:
    limit = Limit("three", 3, 60, in_database=True)
    limits.count(limit, "somebody", amount=2)

    row = RateCount.objects.get(key=limits.row_key(limit, "somebody"))

    read = limits.count_of_row(limit, row.used, row.resets_at)
    again = limits.peek(limit, "somebody")
    assert replace(read, resets_in=again.resets_in) == again  # the time until then is that of two moments
    assert (again.used, read.remaining) == (2, 1)
    assert limits.count_of_row(limit, row.used, row.resets_at - 61_000).used == 0
    assert limits.count_of_row(limit, None, None) == limits.peek(limit, "nobody")
    assert limits.count_of_row(Limit("off", 0, 60, in_database=True), row.used, row.resets_at).used == 0


def test_a_refusal_says_when_to_come_again(store: str) -> None:
    limits.count(THREE, "somebody", amount=3).require(TooManyRequests)

    with pytest.raises(TooManyRequests, match="Not so fast") as refused:
        limits.count(THREE, "somebody").require(TooManyRequests, "Not so fast.")

    assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    assert [found.limit for found in refused.value.limits] == [THREE]


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

        assert limits.peek(THREE, "somebody").used == 0
        assert limits.count(THREE, "somebody").used == 1
        clock.shift(60)
        assert limits.forget_expired() == 1


def test_the_store_names_nobody(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "")

    limits.count(THREE, "person@example.org")

    assert "person" not in str(list(RateCount.objects.values()))


def test_a_redis_that_is_away_is_no_hindrance(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(limits, "_retry_at", 0.0)

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
    forget_all()
    limits.count(THREE, "somebody")

    kept = RateCount.objects.count()
    if settings.REDIS_URL:
        store = redis.Redis.from_url(settings.REDIS_URL)
        assert len(list(store.scan_iter(f"limit:{connection.settings_dict['NAME']}:*"))) == 1
        assert kept == 0
    else:
        assert kept == 1
