"""Emptying a database whose tables refuse to be emptied.

Tests that commit end with Django's flush, which the triggers of the append-only tables rightly refuse. Here the flush
steps around them and puts back what the migrations had filled in, so that every test finds a freshly migrated database.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

# Filled in again after every flush by others. Content types and permissions are put back here, with the numbers that
# a running server remembers them by.
_REFILLED = {"django_migrations", "pkm_registry_version"}

Rows = tuple[str, list[str], list[tuple[Any, ...]]]


@contextmanager
def flush_around_triggers() -> Iterator[None]:
    """Make `flush` work, for every connection of this database's kind, while this context lasts."""
    operations = type(connection.ops)
    plain = operations.execute_sql_flush
    migrated = _migrated_rows()

    def flush(self: Any, sql_list: list[str]) -> None:
        around = _without_triggers_postgresql if self.connection.vendor == "postgresql" else _without_triggers_sqlite
        with transaction.atomic(using=self.connection.alias), around(self.connection):
            plain(self, _deletes(self.connection) if self.connection.vendor == "postgresql" else sql_list)
            _put_back(self.connection, migrated)

    operations.execute_sql_flush = flush
    try:
        yield
    finally:
        operations.execute_sql_flush = plain


def _deletes(database: Any) -> list[str]:
    """Emptying many small tables row by row takes a tenth of the time that TRUNCATE takes."""
    tables = database.introspection.django_table_names(only_existing=True, include_views=False)
    return [f'DELETE FROM "{table}"' for table in tables]


@contextmanager
def _without_triggers_postgresql(database: Any) -> Iterator[None]:
    with database.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '20s'")  # a connection that a test left in a transaction
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        cursor.execute("SET LOCAL session_replication_role = origin")


@contextmanager
def _without_triggers_sqlite(database: Any) -> Iterator[None]:
    with database.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f'DROP TRIGGER "{name}"')
        yield
        for _, statement in triggers:
            cursor.execute(statement)


def _migrated_rows() -> list[Rows]:
    """What the migrations filled in."""
    kept: list[Rows] = []
    with connection.cursor() as cursor:
        for table in sorted(set(connection.introspection.table_names(cursor)) - _REFILLED):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows = cursor.fetchall()
            if rows:
                kept.append((table, [column[0] for column in cursor.description], rows))
    return kept


def _put_back(database: Any, migrated: list[Rows]) -> None:
    with database.cursor() as cursor:
        for table, columns, rows in migrated:
            names = ", ".join(f'"{column}"' for column in columns)
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)
