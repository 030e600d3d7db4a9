"""Watches whether PostgreSQL is available, in one thread of the server, so that requests need not wait to find out.

Without it, each request would wait for the pool, or for ever on a connection whose other end says nothing, and hold one
of few threads meanwhile; /readyz itself would wait for a thread. The thread asks the pool that the requests use:

- no connection for a while, or none that works: the database is away, and requests are refused at once;
- a connection that does not answer: every connection of the pool is cut, which ends whoever waits on one;
- an answer: it is back. Connections that did not survive are replaced before the next request gets one.
"""

import logging
import socket
import threading
import time
import weakref
from contextlib import suppress
from functools import cache
from typing import Any, Self

import psycopg
import psycopg_pool

from common.sql.poolers import leads_through_pooler
from common.sql.texts import replace_nul

_INTERVAL = 1.0  # seconds between two questions
_INTERVAL_WHILE_AWAY = 0.5
_CONNECT_TIMEOUT = 2.0  # seconds that the pool gets for a connection
_ANSWER_TIMEOUT = 4.0  # seconds without an answer to `SELECT 1`; long, since every connection is cut then
_log = logging.getLogger(__name__)
_open: "weakref.WeakSet[PooledConnection]" = weakref.WeakSet()


class PooledConnection(psycopg.Connection[Any]):
    """A connection that can be cut by another thread, while its own waits for an answer.

    It prepares statements only where PostgreSQL itself is at the other end, whatever the settings say, and asks for no
    text with a NUL.
    """

    @classmethod
    def connect(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().connect(*args, **kwargs)
        replace_nul(made)
        try:
            if made.prepare_threshold is not None and leads_through_pooler(made):
                made.prepare_threshold = None
                _tell_of_pooler()
        except BaseException:
            made.close()
            raise
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _open.add(self)

    def cut(self) -> None:
        with suppress(psycopg.Error, OSError), socket.socket(fileno=socket.dup(self.fileno())) as twin:
            twin.shutdown(socket.SHUT_RDWR)


@cache
def _tell_of_pooler() -> None:
    """Once a process."""
    _log.warning("DATABASE_URL leads through a pooler: no statement is prepared; DATABASE_PREPARE=false says so")


class Watch:
    """Whether the database is available, as far as this process knows; `is_away` is False until something is known."""

    def __init__(self) -> None:
        self.is_away = False
        self._connected_at = time.monotonic()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch, where this server has a connection pool."""
        from django.db import connections

        if self._thread is None and getattr(connections["default"], "pool", None) is not None:
            self._thread = threading.Thread(target=self._watch, name="database-watch", daemon=True)
            self._thread.start()

    def note_connection(self) -> None:
        """A request got a connection: the pool may be busy, but the database is there."""
        self._connected_at = time.monotonic()

    def _watch(self) -> None:
        while True:
            try:
                self._check()
            except Exception:  # a thread that ends would leave its last finding in force for ever
                _log.exception("the database watch failed once and continues")
            time.sleep(_INTERVAL_WHILE_AWAY if self.is_away else _INTERVAL)

    def _check(self) -> None:
        from django.db import connections

        pool = connections["default"].pool  # type: ignore[attr-defined]  # PostgreSQL's alone
        pool.open()
        silent = threading.Timer(_ANSWER_TIMEOUT, self._cut_all)
        silent.start()
        try:
            self._check_pool(pool)
        except psycopg_pool.PoolTimeout:
            if time.monotonic() - self._connected_at > _CONNECT_TIMEOUT:
                self._note(away=True)
        except (psycopg.Error, OSError):
            self._note(away=True)
        else:
            self._note(away=False)
        finally:
            silent.cancel()

    def _check_pool(self, pool: Any) -> None:
        try:
            _select_one(pool)
        except psycopg_pool.PoolTimeout:
            raise
        except (psycopg.Error, OSError):
            # one that did not survive a restart stands for all that lie idle: replace them, then ask again
            pool.check()
            _select_one(pool)
        if self.is_away:
            pool.check()

    def _cut_all(self) -> None:
        self._note(away=True)
        for connection in list(_open):
            connection.cut()

    def _note(self, *, away: bool) -> None:
        if away != self.is_away:
            self.is_away = away
            _log.log(logging.ERROR if away else logging.INFO, "the database is %s", "away" if away else "back")


def _select_one(pool: Any) -> None:
    with pool.connection(timeout=_CONNECT_TIMEOUT) as connection:
        connection.execute("SELECT 1")


watch = Watch()
