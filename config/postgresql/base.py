"""Django's own backend, except that nobody waits for a database that is known to be away."""

import time
from typing import Any

import psycopg
import psycopg_pool
from django.db.backends.postgresql import base

from config.database_watch import watch

_PATIENCE = (
    10.0  # seconds for a connection of a busy pool; the pool's own `timeout` is how often one looks up meanwhile
)


class DatabaseWrapper(base.DatabaseWrapper):
    """Every connection is asked for here, so every address fails fast in its own words: page, problem or JSON-RPC."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        deadline = time.monotonic() + _PATIENCE
        while not watch.is_away:
            try:
                connection = super().get_new_connection(conn_params)
            except psycopg_pool.PoolTimeout:
                if time.monotonic() > deadline:
                    raise
            else:
                watch.note_connection()
                return connection
        raise psycopg.OperationalError("the database is away")
