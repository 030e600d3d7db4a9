"""Watches whether PostgreSQL is available, so that requests need not wait to find out.

Without it, each request would wait for the pool, or for ever on a connection whose other end says nothing, and hold one
of few threads meanwhile; /readyz itself would wait for a thread. It asks the pool that the requests use, on
`loop_thread` (common/background.py), so that it waits for nothing else:

- no connection for a while, or none that works: the database is away, and requests are refused at once;
- a connection that does not answer: every connection of the pool is cut, which ends whoever waits on one;
- an answer: it is back. Connections that did not survive are replaced before the next request gets one.
"""

import asyncio
import logging
import time
import weakref
from contextlib import suppress
from functools import cache
from typing import Any, Self

import psycopg
import psycopg_pool
from psycopg import generators, waiting
from psycopg.pq import ExecStatus

from common.background import loop_thread
from common.sql.connections import break_connection, end_without_client, leads_through_pooler, replace_nul

_INTERVAL = 1.0  # seconds between two questions
_INTERVAL_WHILE_AWAY = 0.5
_CONNECT_TIMEOUT = 2.0  # seconds that the pool gets for a connection
_MOMENT = 0.01  # seconds: so long the loop may be held, again and again
_PAUSE = 0.05  # seconds between two of them
_CHECK_INTERVAL = 0.1  # seconds between two looks at a connection that says nothing; 0 would look without a pause
_ANSWER_TIMEOUT = 4.0  # seconds without an answer to `SELECT 1`; long, since every connection is cut then
_log = logging.getLogger(__name__)
_open: "weakref.WeakSet[PooledConnection]" = weakref.WeakSet()


class PooledConnection(psycopg.Connection[Any]):
    """A connection that the watch knows, so that it can be cut while a thread waits for its answer.

    It prepares statements only where PostgreSQL itself is at the other end, whatever the settings say, and tells
    that when to give it up; it asks for no text with a NUL.
    """

    @classmethod
    def connect(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().connect(*args, **kwargs)
        replace_nul(made)
        try:
            if made.prepare_threshold is not None:
                if leads_through_pooler(made):
                    made.prepare_threshold = None
                    _log_pooler()
                else:
                    end_without_client(made)
        except BaseException:
            made.close()
            raise
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _open.add(self)


@cache
def _log_pooler() -> None:
    """Warn of the pooler, once a process."""
    _log.warning("DATABASE_URL leads through a pooler: no statement is prepared; set DATABASE_LISTEN_URL")


class Watch:
    """Whether the database is available, as far as this process knows; `is_away` is False until something is known."""

    def __init__(self) -> None:
        self.is_away = False
        self._connected_at = time.monotonic()
        self._has_begun = False

    def start(self) -> None:
        """Begin to watch, where this server has a connection pool."""
        from django.db import connections

        pool = getattr(connections["default"], "pool", None)
        if not self._has_begun and pool is not None:
            self._has_begun = True
            loop_thread.run(self._watch(pool))

    def note_connection(self) -> None:
        """A request got a connection: the pool may be busy, but the database is there."""
        self._connected_at = time.monotonic()

    async def _watch(self, pool: Any) -> None:
        while True:
            try:
                await self._check(pool)
            except Exception:  # a watch that ends would leave its last finding in force for ever
                _log.exception("the database watch failed once and continues")
            await asyncio.sleep(_INTERVAL_WHILE_AWAY if self.is_away else _INTERVAL)

    async def _check(self, pool: Any) -> None:
        pool.open()
        silent = asyncio.get_running_loop().call_later(_ANSWER_TIMEOUT, self._cut_all)
        try:
            await self._check_pool(pool)
        except psycopg_pool.PoolTimeout:
            if time.monotonic() - self._connected_at > _CONNECT_TIMEOUT:
                self._note(away=True)
        except (psycopg.Error, OSError):
            self._note(away=True)
        else:
            self._note(away=False)
        finally:
            silent.cancel()

    async def _check_pool(self, pool: Any) -> None:
        try:
            await _select_one(pool)
        except psycopg_pool.PoolTimeout:
            raise
        except (psycopg.Error, OSError):
            # one that did not survive a restart stands for all that lie idle: replace them, then ask again
            await _replace_broken(pool)
            await _select_one(pool)
        if self.is_away:
            await _replace_broken(pool)

    def _cut_all(self) -> None:
        self._note(away=True)
        for connection in list(_open):
            break_connection(connection)

    def _note(self, *, away: bool) -> None:
        if away != self.is_away:
            self.is_away = away
            _log.log(logging.ERROR if away else logging.INFO, "the database is %s", "away" if away else "back")


async def _replace_broken(pool: Any) -> None:
    """Ask each connection that lies idle. The pool throws away what comes back broken, and makes another."""
    for _ in range(pool.get_stats()["pool_available"]):
        with suppress(psycopg.Error, OSError):
            await _select_one(pool, timeout=0.0)


async def _select_one(pool: Any, *, timeout: float = _CONNECT_TIMEOUT) -> None:
    connection = await _connection_of(pool, timeout)
    try:
        connection.pgconn.send_query(b"SELECT 1")
        answering, socket = generators.execute(connection.pgconn), connection.pgconn.socket
        results = await waiting.wait_async(answering, socket, interval=_CHECK_INTERVAL)
        if results[-1].status != ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError("PostgreSQL answers with an error")
    finally:
        pool.putconn(connection)


async def _connection_of(pool: Any, timeout: float) -> psycopg.Connection[Any]:
    """The pool's own wait would hold the loop. Raises `PoolTimeout`."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            found: psycopg.Connection[Any] = pool.getconn(timeout=_MOMENT)
        except psycopg_pool.PoolTimeout:
            if time.monotonic() >= deadline:
                raise
            await asyncio.sleep(_PAUSE)
        else:
            return found


watch = Watch()
