"""Holding an answer until something changes, without holding a database connection.

One thread per process hears of every notice: LISTEN on PostgreSQL, a short poll of the newest notices on SQLite and
where only a pooler leads to PostgreSQL. It wakes the callers that wait for that request or that app. Nobody relies on
it for the truth: a woken caller reads the row again, and reads it anyway when the time is over.

Once the process is about to end nobody is held any more: who waits is answered with what stands, a stream ends and its
reader goes on at the next process.
"""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection

from common.shutdown import shutdown
from common.sql.poolers import leads_through_pooler
from common.sql.statements import rows
from consent import status
from consent.notices.outbox import CHANNEL
from consent.shapes import ConsentStatus
from consent.states import RequestStatus
from developers.authentication import require_still_let_in

_log = logging.getLogger(__name__)
_POLL_EVERY = 0.1  # seconds, without LISTEN
_NEWEST = 64  # notices that a poll looks at: some are committed after others with a higher number
_RELISTEN_AFTER = 1.0  # seconds, after the listener's connection broke
_LISTEN_FOR = 1.0  # seconds between two looks whether anybody waits still
_LOOK_AGAIN = 5.0  # seconds, at most, between two looks of a waiter: a missed notice costs no more than this
_PATIENCE = (  # of the settings, with whatever address
    "client_encoding", "connect_timeout", "tcp_user_timeout", "keepalives_idle", "keepalives_interval",
    "keepalives_count",
)  # fmt: skip
_NEWEST_NOTICES = f"""
SELECT n.id, n.app_id, r.request_id FROM consent_notices n JOIN consent_requests r ON r.id = n.request_id
ORDER BY n.id DESC LIMIT {_NEWEST}
"""  # noqa: S608  # a number of ours


class _Hub:
    """Who waits in this process, and the thread that wakes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[threading.Event]] = defaultdict(set)
        self._of_app: Counter[int] = Counter()
        self._thread: threading.Thread | None = None
        self._listens = False  # said under the lock: a thread that has decided to end is alive for a moment more
        self._ended = False

    @contextmanager
    def waiting_for(self, topic: str, *, app_pk: int) -> Iterator[threading.Event]:
        """An event that is set when something happens to `topic`: `request:<request_id>` or `app:<primary key>`.

        `app_pk` is whose caller waits.
        """
        event = threading.Event()
        with self._lock:
            self._waiting[topic].add(event)
            self._of_app[app_pk] += 1
            if not self._listens or self._thread is None or not self._thread.is_alive():
                self._listens = True
                self._thread = threading.Thread(target=self._listen, name="notices", daemon=True)
                self._thread.start()
        try:
            yield event
        finally:
            with self._lock:
                self._waiting[topic].discard(event)
                self._of_app[app_pk] -= 1
                if not self._of_app[app_pk]:
                    del self._of_app[app_pk]
                if not self._waiting[topic]:
                    del self._waiting[topic]

    def count(self) -> int:
        with self._lock:
            return sum(len(events) for events in self._waiting.values())

    def held_of(self, app_pk: int) -> int:
        """How many callers of this app wait in this process."""
        with self._lock:
            return self._of_app[app_pk]

    def is_full(self, app_pk: int) -> bool:
        """Whether this process, or this app's share of it, holds as many waiting callers as it admits, or is ending."""
        with self._lock:
            if self._ended:
                return True
            held = sum(len(events) for events in self._waiting.values())
            return held >= settings.STATUS_WAITERS or self._of_app[app_pk] >= settings.STATUS_WAITERS_PER_APP

    def has_ended(self) -> bool:
        """Whether nobody is held any more, since the process is about to end."""
        return self._ended

    def end(self) -> None:
        """Wake everybody who waits, and hold nobody from now on."""
        with self._lock:
            self._ended = True
        self._wake_all()

    def wake_streams(self, app_pk: int) -> None:
        """Have the streams of this app in this process look again whether their tokens let them in."""
        self._wake(app_pk, "")

    def is_silent(self) -> bool:
        """Whether nobody waits and nothing listens."""
        return not self.count() and (self._thread is None or not self._thread.is_alive())

    def _wake(self, app_pk: object, request_id: object) -> None:
        with self._lock:
            events = self._waiting.get(f"request:{request_id}", set()) | self._waiting.get(f"app:{app_pk}", set())
        for event in events:
            event.set()

    def _wake_all(self) -> None:
        with self._lock:
            events = set().union(*self._waiting.values())
        for event in events:
            event.set()

    def _listen(self) -> None:
        hear = self._hear_postgresql if connection.vendor == "postgresql" else self._hear_polling
        while self._goes_on():  # ends when nobody waits any more; the next waiter starts it again
            try:
                hear()
            except Exception:
                _log.exception("the listener for notices broke and starts again")
                time.sleep(_RELISTEN_AFTER)
                self._wake_all()
        connection.close()

    def _goes_on(self) -> bool:
        with self._lock:
            self._listens = bool(self._waiting)
            return self._listens

    def _hear_postgresql(self) -> None:
        with psycopg.connect(**listeners_address(), autocommit=True, prepare_threshold=None) as listener:
            if not leads_through_pooler(listener):
                self._hear_listening(listener)
                return
        _tell_of_pooler()
        self._hear_polling()

    def _hear_listening(self, listener: psycopg.Connection[Any]) -> None:
        listener.execute(f"LISTEN {CHANNEL}")
        self._wake_all()  # whatever happened before LISTEN took effect
        while self.count():
            for notice in listener.notifies(timeout=_LISTEN_FOR):
                self._wake(*notice.payload.split(" ", 1))

    def _hear_polling(self) -> None:
        try:
            known = {row["id"] for row in rows(_NEWEST_NOTICES)}
            self._wake_all()  # whatever happened before that
            while self.count():
                time.sleep(_POLL_EVERY)
                newest = rows(_NEWEST_NOTICES)
                for row in newest:
                    if row["id"] not in known:
                        self._wake(row["app_id"], row["request_id"])
                known = {row["id"] for row in newest}
        finally:
            connection.close()  # a broken one is not used again


def listeners_address() -> dict[str, Any]:
    """What leads to a session of the listener's own: that of the settings, or the database's."""
    parameters: dict[str, Any] = connection.get_connection_params()
    for not_its_own in ("context", "cursor_factory", "pool", "prepare_threshold"):
        parameters.pop(not_its_own, None)
    if settings.DATABASE_LISTEN_URL:
        # how the pooler is reached, TLS included, says nothing about the way to PostgreSQL itself
        patience = {name: value for name, value in parameters.items() if name in _PATIENCE}
        return {"conninfo": settings.DATABASE_LISTEN_URL, **patience}
    return parameters


@cache
def _tell_of_pooler() -> None:
    """Once a process."""
    _log.warning("LISTEN would lead through a pooler: notices are polled; DATABASE_LISTEN_URL leads past it")


hub = _Hub()
shutdown.when_it_begins(hub.end)


def wait_for_change(*, app_pk: int, token_pk: int, request_id: str, seconds: float) -> ConsentStatus:
    """The status body once the request is no longer pending, or when `seconds` are over.

    Raises `InvalidToken` or `AppSuspended` where that happened while the call was held.

    The database connection goes back to the pool while this thread sleeps. Where the process holds too many callers
    already, or is about to end, it answers at once: a poll is always allowed.
    """
    deadline = time.monotonic() + seconds
    body = status.for_app(app_pk=app_pk, request_id=request_id)
    if body["status"] != RequestStatus.PENDING or hub.is_full(app_pk):
        return body
    with hub.waiting_for(f"request:{request_id}", app_pk=app_pk) as event:
        while True:
            event.clear()
            body = status.for_app(app_pk=app_pk, request_id=request_id)
            left = deadline - time.monotonic()
            if body["status"] != RequestStatus.PENDING or left <= 0 or hub.has_ended():
                return body
            connection.close()
            event.wait(min(left, _LOOK_AGAIN))
            require_still_let_in(token_pk)
