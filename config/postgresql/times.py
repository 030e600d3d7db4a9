"""How times of PostgreSQL are read: by Python's own reader of ISO 8601, in an eighth of the time (docs/adr/0054)."""

from datetime import UTC, datetime
from functools import lru_cache

from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.types.datetime import TimestamptzLoader


class ISOTimes(TimestamptzLoader):
    """A time as the server writes it, in the zone that it names: UTC, as the connection asked for.

    What Python does not take (before the year 1, after 9999, another style) is left to psycopg, which reads or
    refuses it.
    """

    timezone = UTC  # Django compares it with the zone of its connection

    def load(self, data: Buffer) -> datetime:
        try:
            return datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            return super().load(data)


@lru_cache
def with_iso_times(context: AdaptersMap) -> AdaptersMap:
    """What `context` reads and writes, but for times."""
    found = AdaptersMap(context)
    found.register_loader("timestamptz", ISOTimes)
    return found
