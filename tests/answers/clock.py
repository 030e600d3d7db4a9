"""A clock that stands still and moves only when it is told to, for this process and for the database alike."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import time_machine
from django.db import connection

# Later than any real day of a run: what SQLite compares with its own clock has not expired by either of the two.
BEGINNING = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)
# A function of this name that is found before PostgreSQL's own. It answers from a setting of the transaction.
_STOPPED_POSTGRESQL = """
CREATE SCHEMA stopped_clock;
CREATE FUNCTION stopped_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT current_setting(''stopped_clock.now'')::timestamptz';
CREATE FUNCTION stopped_clock.statement_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT current_setting(''stopped_clock.now'')::timestamptz';
SET LOCAL search_path = stopped_clock, public, pg_catalog
"""


class Clock:
    """`move` lets time pass, in whole seconds."""

    def __init__(self, traveller: time_machine.Traveller, monotonic: float) -> None:
        self._traveller = traveller
        self.now, self.monotonic = BEGINNING, monotonic
        self._tell_database()

    def move(self, seconds: int = 1) -> None:
        self.now += timedelta(seconds=seconds)
        self.monotonic += seconds
        self._traveller.move_to(self.now, tick=False)
        self._tell_database()

    def _tell_database(self) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('stopped_clock.now', %s, true)", [self.now.isoformat()])


@contextmanager
def stopped_clock() -> Iterator[Clock]:
    """Inside a transaction, which takes PostgreSQL's part of it back."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for statement in _STOPPED_POSTGRESQL.split(";\n"):
                cursor.execute(statement)
    # whole, so that no fraction of the machine's own clock rounds one way today and another way tomorrow
    monotonic = float(int(time.monotonic()))
    with time_machine.travel(BEGINNING, tick=False) as traveller:
        clock = Clock(traveller, monotonic)
        with patch("time.monotonic", lambda: clock.monotonic):
            yield clock
