"""What /readyz looks at, all of it at once and none of it for longer than a moment.

The database is asked over a connection of its own: the pool's may all be busy or broken, and a wait for them would say
nothing. A new event loop for each look is what bounds it: a connection that hangs is given up, not waited for.
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

from consent.rules import RULES as CONSENT_RULES
from pkm.rules import RULES as PKM_RULES

_WITHIN = 0.7  # seconds, each of them; /readyz promises one
_APPLIED = "SELECT app, name FROM django_migrations"
_TRIGGERS = {
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
}
_TAKES_ENTRIES = """
SELECT current_setting('transaction_read_only') = 'off' AND has_table_privilege('consent_audit', 'INSERT')
"""
Found = dict[str, bool]


def look() -> Found:
    """`database`, `migrations`, `rules` (triggers that are in force), `audit` (it takes entries) and `broker`."""
    wanted_migrations()  # read once, from the disk: not on the clock of the first look
    loop = asyncio.new_event_loop()
    try:
        database, broker = loop.run_until_complete(_both())
    finally:
        loop.close()  # a look-up of a name that hangs is left behind in its thread
    return {**database, "broker": broker}


@cache
def wanted_migrations() -> frozenset[tuple[str, str]]:
    """Every migration that this version brings."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)


@cache
def _wanted_triggers(vendor: str) -> frozenset[str]:
    return frozenset(rule.trigger for rule in (*CONSENT_RULES, *PKM_RULES) if rule.statements(vendor))


async def _both() -> tuple[Found, bool]:
    found: Found = dict.fromkeys(("database", "migrations", "rules", "audit"), False)
    asked = _ask_postgresql(found) if connection.vendor == "postgresql" else _ask_sqlite(found)
    _, broker = await asyncio.gather(_in_time(asked), _in_time(_ask_broker()))
    return found, broker


async def _in_time(asked: Coroutine[Any, Any, None]) -> bool:
    """Whether it ended well, and in time; which part failed is told, why is in that part's own log."""
    try:
        await asyncio.wait_for(asked, _WITHIN)
    except Exception:
        return False
    return True


async def _ask_postgresql(found: Found) -> None:
    """Fill in what was found so far: what comes after a failure stays False."""
    parameters: dict[str, Any] = connection.get_connection_params()
    for django_own in ("context", "cursor_factory", "prepare_threshold"):
        parameters.pop(django_own, None)
    async with await psycopg.AsyncConnection.connect(**parameters, autocommit=True) as asked:
        await (await asked.execute("SELECT 1")).fetchone()
        found["database"] = True
        applied = await (await asked.execute(_APPLIED)).fetchall()
        found["migrations"] = wanted_migrations() <= set(applied)
        triggers = {name for (name,) in await (await asked.execute(_TRIGGERS["postgresql"])).fetchall()}
        found["rules"] = _wanted_triggers("postgresql") <= triggers
        found["audit"] = await (await asked.execute(_TAKES_ENTRIES)).fetchone() == (True,)


async def _ask_sqlite(found: Found) -> None:
    """The file as it is: one that is missing is not made, and a lock is not waited for."""
    path = Path(str(connection.settings_dict["NAME"])).resolve()
    asked = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0.2)
    try:
        triggers = {name for (name,) in asked.execute(_TRIGGERS["sqlite"])}
        found["database"] = True
        found["migrations"] = wanted_migrations() <= set(asked.execute(_APPLIED))
        found["rules"] = _wanted_triggers("sqlite") <= triggers
        found["audit"] = os.access(path, os.W_OK)
    finally:
        asked.close()


async def _ask_broker() -> None:
    """Raise where what is sent to the worker would not arrive."""
    if not settings.REDIS_URL:
        folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"]
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OSError("the queue's folder takes nothing")
        return
    from redis.asyncio import Redis

    async with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=_WITHIN, socket_timeout=_WITHIN) as broker:
        await broker.ping()
