"""The test database of this process: made as a deployment makes one, and put back after each test that commits.

Django's own flush would be refused by the triggers of append-only tables, and would take what the migrations filled in.
"""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.commands import flush
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import setup_databases, teardown_databases

from common.sql.triggers import Rule, present_triggers
from pkm.registry.sync import sync_registry
from tests.settings import RUN_VAR

Rows = tuple[list[str], list[tuple[Any, ...]]]


@contextmanager
def migrated_database() -> Iterator[None]:
    """A test database with its tables, rules and registry, which `flush` puts back to this state.

    It is made whether or not a test says that it needs one: without it, connections lead to the database of
    DATABASE_URL.
    """
    before = _made_once()
    if connection.vendor == "postgresql":
        _trust_memory()
    operations = type(connection.ops)
    plain, plain_signal = operations.execute_sql_flush, flush.emit_post_migrate_signal
    put_back = _copied() if connection.vendor == "sqlite" else _emptied()
    operations.execute_sql_flush = lambda self, statements: put_back(self.connection)
    # what Django's receivers make after an empty flush, permissions above all, is among what is put back
    flush.emit_post_migrate_signal = lambda *_, **__: None
    try:
        yield
    finally:
        operations.execute_sql_flush, flush.emit_post_migrate_signal = plain, plain_signal
        if connection.vendor == "postgresql":
            _end_other_sessions()
        teardown_databases(before, 0)


def _made_once() -> list[tuple[BaseDatabaseWrapper, str, bool]]:
    """The first process of a run migrates, which takes ten seconds; the others have a copy.

    Answers what to tear down, as `setup_databases` does.
    """
    copy = Path(RUN_VAR, "migrated.sqlite3")
    with Path(RUN_VAR, "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if copy.exists():
            before, own = connection.settings_dict["NAME"], connection.creation._get_test_db_name()
            if connection.vendor == "sqlite":
                shutil.copyfile(copy, own)
            connection.close()
            settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = own
            return [(connection, before, True)]
        made: list[tuple[BaseDatabaseWrapper, str, bool]] = setup_databases(
            0, interactive=False, serialized_aliases=set()
        )
        sync_registry()
        connection.close()  # on SQLite what lies beside the file goes into it
        if connection.vendor == "sqlite":
            shutil.copyfile(connection.settings_dict["NAME"], copy)
        else:
            _copy_for_others(connection.settings_dict["NAME"])
            copy.touch()
        return made


def _copy_for_others(own: str) -> None:
    """A copy of this database for each other process of the run, by the name that pytest-django gives it."""
    connection.close_pool()  # a database in use is not copied
    this = os.environ.get("PYTEST_XDIST_WORKER", "")
    everybody = {f"gw{number}" for number in range(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")))}
    with connection._nodb_cursor() as cursor:
        for other in everybody - {this}:
            name = connection.ops.quote_name(own.removesuffix(this) + other)
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")  # a run that was killed left it
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {connection.ops.quote_name(own)}")


def _trust_memory() -> None:
    """A commit need not be on the disk: no test ends the database server, and each waits a few milliseconds less."""
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" SET synchronous_commit = off')
    connection.close()  # the next one has it


def _end_other_sessions() -> None:
    """A database in which the thread of a test still has a session cannot be dropped; what it did was judged before."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def _copied() -> Any:
    """On SQLite the whole file is written again, from a copy in memory."""
    connection.ensure_connection()
    copy = sqlite3.connect(":memory:")
    connection.connection.backup(copy)

    def put_back(database: Any) -> None:
        database.ensure_connection()
        copy.backup(database.connection)

    return put_back


def _emptied() -> Any:
    """On PostgreSQL the tables that hold other rows than the migrated ones are emptied and filled in again."""
    with connection.cursor() as cursor:
        tables = sorted(connection.introspection.table_names(cursor))
    migrated = {table: rows for table, rows in _rows(connection, tables).items() if rows[1]}
    filled = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")"  # names of our own tables
        for table in tables
        if table not in migrated
    )

    def put_back(database: Any) -> None:
        with transaction.atomic(using=database.alias), database.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '20s'")  # a connection that a test left in a transaction
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(filled)
            for (table,) in cursor.fetchall():
                cursor.execute(f'DELETE FROM "{table}"')
            now = _rows(database, list(migrated))
            for table, (columns, rows) in migrated.items():
                if now[table][1] != rows:
                    cursor.execute(f'DELETE FROM "{table}"')
                    names, places = ", ".join(f'"{name}"' for name in columns), ", ".join(["%s"] * len(columns))
                    cursor.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)

    return put_back


def _rows(database: Any, tables: list[str]) -> dict[str, Rows]:
    found = {}
    with database.cursor() as cursor:
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            found[table] = ([column[0] for column in cursor.description], cursor.fetchall())
    return found


def missing_rules(database: BaseDatabaseWrapper, rules: Iterable[Rule]) -> list[str]:
    """The names of the triggers that should be in the database and are not."""
    present = present_triggers(database)
    return sorted(rule.trigger for rule in rules if rule.statements(database.vendor) and rule.trigger not in present)
