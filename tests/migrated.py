"""The test database of this process: migrated by one process of a run, copied by all others.

Sixty migrations take ten seconds of a processor, a copy of what they made takes one. `migrate` runs on the copy all the
same and finds nothing to do, so that a copy which lacks one would get it.
"""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.test.utils import setup_databases, teardown_databases

from pkm.registry.sync import sync_registry


@contextmanager
def migrated_database() -> Iterator[None]:
    """A test database as a deployment makes one, with its registry, while this context lasts.

    It is made whether or not a test says that it needs one: without it,
    connections lead to the database of DATABASE_URL.
    """
    shared = "PYTEST_XDIST_WORKER" in os.environ
    made_here = False
    with _one_at_a_time():
        copied = shared and _take_copy()
        before = setup_databases(0, interactive=False, keepdb=copied, serialized_aliases=set())
        sync_registry()
        if shared and not copied:
            _leave_copy()
            made_here = True
    yield
    with _one_at_a_time():
        if made_here:
            _remove_copy()  # who comes later still, migrates for itself
    teardown_databases(before, 0)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Among the processes of this run."""
    with (Path(settings.RUN_VAR) / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy() -> Path:
    """The copy on SQLite; on PostgreSQL an empty file that tells that there is one."""
    return Path(settings.RUN_VAR) / "migrated.sqlite3"


def _template() -> str:
    """The copy on PostgreSQL, quoted. Called before the test database takes the place of the real one, and after."""
    own = connection.creation._get_test_db_name()
    return connection.ops.quote_name(f"{own.removesuffix('_' + os.environ['PYTEST_XDIST_WORKER'])}_migrated")


def _take_copy() -> bool:
    """Put the copy where this process's test database will be looked for; False where there is none yet."""
    if not _copy().exists():
        return False
    own = connection.creation._get_test_db_name()
    if connection.vendor == "sqlite":
        shutil.copyfile(_copy(), own)
    else:
        name = connection.ops.quote_name(own)
        _on_the_server(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} TEMPLATE {_template()}")
    return True


def _leave_copy() -> None:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        there = sqlite3.connect(_copy())
        try:
            connection.connection.backup(there)
        finally:
            there.close()
        return
    connection.close()
    connection.close_pool()  # a database that somebody is connected to cannot be copied
    own = connection.ops.quote_name(connection.settings_dict["NAME"])
    _on_the_server(f"DROP DATABASE IF EXISTS {_template()}", f"CREATE DATABASE {_template()} TEMPLATE {own}")
    _copy().touch()


def _remove_copy() -> None:
    if connection.vendor == "postgresql":
        _on_the_server(f"DROP DATABASE IF EXISTS {_template()}")
    _copy().unlink()


def _on_the_server(*statements: str) -> None:
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
