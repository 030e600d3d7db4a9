"""The probes behind /readyz, run at the same time and each bounded in time.

The database is probed over a connection of its own, since those of the pool may all be busy or broken. Each run has a
new event loop, which bounds it: a connection that hangs is given up and not waited for.
"""

import asyncio
import os
import sqlite3
from collections.abc import Coroutine
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from common import heartbeats
from common.sql import triggers
from config.rules import wanted_triggers

_TIME_LIMIT = 0.7  # seconds, each of them; /readyz promises one
_APPLIED = "SELECT app, name FROM django_migrations"
_TAKES_ENTRIES = """
SELECT current_setting('transaction_read_only') = 'off' AND has_table_privilege('consent_audit', 'INSERT')
"""
# whether worker and timer show life, and whether the log took in what waited for longer than a sequencer's turn takes
_BACKGROUND = {
    "postgresql": """
        SELECT EXISTS (SELECT 1 FROM cache_entries WHERE key = %s AND expires_at > now.ms),
               EXISTS (SELECT 1 FROM cache_entries WHERE key = %s AND expires_at > now.ms),
               NOT EXISTS (SELECT 1 FROM consent_log_queue WHERE at < now() - %s * interval '1 second')
          FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) AS now
    """,
    "sqlite": """
        SELECT EXISTS (SELECT 1 FROM cache_entries WHERE key = ? AND expires_at > now.ms),
               EXISTS (SELECT 1 FROM cache_entries WHERE key = ? AND expires_at > now.ms),
               NOT EXISTS (
                   SELECT 1 FROM consent_log_queue WHERE at < strftime('%Y-%m-%d %H:%M:%f', 'now', ?)
               )
          FROM (SELECT (julianday('now') - 2440587.5) * 86400000 AS ms) AS now
    """,
}
_LOG_LATE = 25  # seconds; the sequencer takes what waits every two
_PARTS = ("worker", "timer", "log")
_KEYS = (heartbeats.key("worker"), heartbeats.key("timer"))
Found = dict[str, bool]


def probe() -> Found:
    """Whether each part does: `database`, `migrations`, `rules` (triggers that are in force), `audit` (it takes
    entries), `worker` and `timer` (they showed life within 20 seconds), `log` (nothing waits for it for longer than
    `_LOG_LATE` seconds) and `broker`."""
    wanted_migrations()  # read from the disk, once, and outside of the time limit
    loop = asyncio.new_event_loop()
    try:
        database, broker = loop.run_until_complete(_probe_all())
    finally:
        loop.close()  # a name lookup that hangs is left behind in its thread
    return {**database, "broker": broker}


@cache
def wanted_migrations() -> frozenset[tuple[str, str]]:
    """Every migration that this version brings."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)


async def _probe_all() -> tuple[Found, bool]:
    found: Found = dict.fromkeys(("database", "migrations", "rules", "audit", *_PARTS), False)
    database = _probe_postgresql(found) if connection.vendor == "postgresql" else _probe_sqlite(found)
    _, broker = await asyncio.gather(_succeeds_in_time(database), _succeeds_in_time(_probe_broker()))
    return found, broker


async def _succeeds_in_time(attempt: Coroutine[Any, Any, None]) -> bool:
    """Whether it ended without an error and in time. Why it failed is in the log of what was probed."""
    try:
        await asyncio.wait_for(attempt, _TIME_LIMIT)
    except Exception:
        return False
    return True


async def _probe_postgresql(found: Found) -> None:
    """Fill in `found` as far as it gets; what comes after a failure stays False."""
    parameters: dict[str, Any] = connection.get_connection_params()
    for django_own in ("context", "cursor_factory", "prepare_threshold"):
        parameters.pop(django_own, None)
    async with await psycopg.AsyncConnection.connect(**parameters, autocommit=True, prepare_threshold=None) as database:
        await (await database.execute("SELECT 1")).fetchone()
        found["database"] = True
        applied = await (await database.execute(_APPLIED)).fetchall()
        found["migrations"] = wanted_migrations() <= set(applied)
        present = {name for (name,) in await (await database.execute(triggers.PRESENT["postgresql"])).fetchall()}
        found["rules"] = wanted_triggers("postgresql") <= present
        found["audit"] = await (await database.execute(_TAKES_ENTRIES)).fetchone() == (True,)
        background = await (await database.execute(_BACKGROUND["postgresql"], (*_KEYS, _LOG_LATE))).fetchone()
        found.update(zip(_PARTS, background or (), strict=False))


async def _probe_sqlite(found: Found) -> None:
    """Probe the file as it is: a missing one is not created, and a lock is not waited for."""
    path = Path(str(connection.settings_dict["NAME"])).resolve()
    database = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0.2)
    try:
        present = {name for (name,) in database.execute(triggers.PRESENT["sqlite"])}
        found["database"] = True
        found["migrations"] = wanted_migrations() <= set(database.execute(_APPLIED))
        found["rules"] = wanted_triggers("sqlite") <= present
        found["audit"] = os.access(path, os.W_OK)
        background = database.execute(_BACKGROUND["sqlite"], (*_KEYS, f"-{_LOG_LATE} seconds")).fetchone()
        found.update(zip(_PARTS, map(bool, background), strict=True))
    finally:
        database.close()


async def _probe_broker() -> None:
    """Raise where a task that is sent would not reach the worker."""
    address = settings.CELERY_BROKER_URL
    if address.startswith("spool:"):
        folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"]
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OSError("the queue's folder takes nothing")
        return
    if not address.startswith("redis"):
        await asyncio.to_thread(_connect_to_broker)
        return
    from redis.asyncio import Redis

    async with Redis.from_url(address, socket_connect_timeout=_TIME_LIMIT, socket_timeout=_TIME_LIMIT) as broker:
        await broker.ping()


def _connect_to_broker() -> None:
    """To one that only Celery's own library speaks with, which has no asynchronous form."""
    from config.celery import app

    with app.connection_for_write(connect_timeout=_TIME_LIMIT) as broker:
        broker.connect()
