"""Times of PostgreSQL are what Django reads of them (decision 0054)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import DataError, connection
from hypothesis import given
from hypothesis import strategies as st
from psycopg.pq import Format

from config.postgresql.times import ISOTimes

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps times as text"),
]
SOME = [
    datetime(2026, 11, 26, 15, 39, 55, 1, tzinfo=UTC),
    datetime(2026, 11, 26, 15, 39, 55, 100_000, tzinfo=UTC),
    datetime(2026, 11, 26, 15, 39, 55, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(99, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]


def read(text: str) -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        found: datetime = cursor.fetchone()[0]
    return found


@pytest.fixture
def _zone_afterwards() -> Iterator[None]:
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET TIME ZONE 'UTC'")


def test_they_are_read_by_what_reads_them_fast() -> None:
    connection.ensure_connection()
    kind = psycopg.adapters.types["timestamptz"].oid

    assert connection.connection.adapters.get_loader(kind, Format.TEXT) is ISOTimes


@given(st.one_of(st.sampled_from(SOME), st.datetimes(timezones=st.just(UTC))))
def test_a_time_is_read_as_it_was_written(moment: datetime) -> None:
    found = read(moment.isoformat())

    assert found == moment
    assert found.tzinfo is UTC


@pytest.mark.usefixtures("_zone_afterwards")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"])
def test_another_zone_of_the_connection_names_the_same_moment(zone: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', %s, false)", [zone])

    assert read("2026-07-01 12:00:00+00") == datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert read("1890-07-01 12:00:00+00") - datetime(1890, 7, 1, 12, tzinfo=UTC) == timedelta(0)


@pytest.mark.parametrize("text", ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01"])
def test_what_python_has_no_time_for_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        read(text)
