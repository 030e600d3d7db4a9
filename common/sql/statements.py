"""Statements in plain SQL, for SQLite and PostgreSQL alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection

# the lock of whoever passes under a name; held until the transaction ends
NAMED_LOCK = "pg_advisory_xact_lock(hashtextextended(%(name)s, 0))"
_NAMES: dict[str, list[str]] = {}  # by statement; statements are constants of this program, so they are few


def rows(sql: str, parameters: Iterable[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
    """The rows of a hot read as dictionaries, without the cost of the ORM."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)  # type: ignore[arg-type]  # the stubs know no mapping here
        names = _NAMES.get(sql)
        if names is None:
            # psycopg builds its description anew for every look at it, which is a tenth of a hot read
            names = _NAMES[sql] = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def lock_for_transaction(name: str) -> None:
    """Let only one transaction at a time pass here under this name, until it ends."""
    take_locks(f"SELECT {NAMED_LOCK}", {"name": name})


def notify(channel: str, payload: str) -> None:
    """Tell who listens on PostgreSQL, once this transaction commits; on SQLite everybody looks for themselves."""
    notify_all(channel, [payload])


def notify_all(channel: str, payloads: Sequence[str]) -> None:
    """The same with several payloads, in this order."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, told) FROM unnest(%s::text[]) told", [channel, list(payloads)])


@contextmanager
def locks_waited_for(timeout: str) -> Iterator[None]:
    """Within this, part of a transaction, give up a lock after so long ("3s"), on PostgreSQL.

    SQLite waits for its one lock at the beginning of the transaction. A failure takes the timeout back with the rest.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [timeout])
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout TO DEFAULT")


def take_locks(statement: str, parameters: Mapping[str, Any]) -> None:
    """Run a statement that does nothing but lock, on PostgreSQL.

    SQLite's transactions are IMMEDIATE and exclude each other anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
