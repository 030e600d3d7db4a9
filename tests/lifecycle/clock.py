"""A clock that tests set: this process's, and on PostgreSQL the database's too, since that is what decides there."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import time_machine
from django.db import connection

_INSTALL = """
CREATE SCHEMA moved;
CREATE TABLE moved.clock (at timestamptz NOT NULL);
INSERT INTO moved.clock VALUES (pg_catalog.clock_timestamp());
CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM moved.clock'
"""


class Clock:
    """Stands still until it is moved."""

    def __init__(self, start: datetime) -> None:
        self._travel = time_machine.travel(start, tick=False)
        self._process = self._travel.start()
        self._now = start
        self._tell_database()

    def advance(self, seconds: int) -> None:
        self._process.shift(seconds)
        self._now += timedelta(seconds=seconds)
        self._tell_database()

    def stop(self) -> None:
        self._travel.stop()

    def _tell_database(self) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("UPDATE moved.clock SET at = %s", [self._now])


@contextmanager
def movable_database_clock() -> Iterator[None]:
    """PostgreSQL's `clock_timestamp()` is one of ours for every connection that is made in this context.

    Its own is found first only where the search path does not name `pg_catalog`.
    """
    if connection.vendor != "postgresql":
        yield
        return
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(_INSTALL)
        cursor.execute(f"ALTER DATABASE {name} SET search_path = moved, public, pg_catalog")
    _reconnect()
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {name} RESET search_path")
            cursor.execute("DROP SCHEMA moved CASCADE")
        _reconnect()


def _reconnect() -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's connections
