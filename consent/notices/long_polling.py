"""Holding an answer until something changes, without holding a database connection.

While anybody waits, the process hears of every notice: LISTEN on PostgreSQL, a short poll of the newest notices on
SQLite and where only a pooler leads to PostgreSQL. It wakes the callers that wait for that request or that app. Nobody
relies on it for the truth: a woken caller reads the row again, and reads it anyway when the time is over.

Once the process is about to end nobody is held any more: who waits is answered with what stands, a stream ends and its
reader goes on at the next process.
"""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import connection

from common.background import background, loop_thread
from common.shutdown import shutdown
from common.sql.connections import break_connection, leads_through_pooler
from common.sql.statements import rows
from consent import status
from consent.notices.outbox import CHANNEL
from consent.shapes import Connection, ConsentStatus
from consent.states import RequestStatus
from developers.authentication import AppContext, require_still_let_in

_log = logging.getLogger(__name__)
_POLL_EVERY = 0.1  # seconds, without LISTEN
_NEWEST = 64  # notices that a poll looks at: some are committed after others with a higher number
_ANSWER_TIMEOUT = 4.0  # seconds that LISTEN gets: others wait for that thread, too
_RELISTEN_AFTER = 1.0  # seconds, after the listener's connection broke
_LISTEN_FOR = 1.0  # seconds between two looks whether anybody waits still
_LOOK_AGAIN = 5.0  # seconds, at most, between two looks of a waiter: a missed notice costs no more than this
_NOT_LIVE = 4  # of the places of a process, all apps that anybody makes share one in so many
_Body = TypeVar("_Body", ConsentStatus, Connection)
_PATIENCE = (  # of the settings, with whatever address
    "client_encoding", "connect_timeout", "tcp_user_timeout", "keepalives_idle", "keepalives_interval",
    "keepalives_count",
)  # fmt: skip
_NEWEST_NOTICES = f"""
SELECT n.id, n.app_id, r.request_id FROM consent_notices n LEFT JOIN consent_requests r ON r.id = n.request_id
ORDER BY n.id DESC LIMIT {_NEWEST}
"""  # noqa: S608  # a number of ours


class _Hub:
    """Who waits in this process, and what wakes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[str, set[threading.Event]] = defaultdict(set)
        self._of_app: Counter[int] = Counter()
        self._not_live = 0
        self._listens = False  # said under the lock, by who begins and by who has decided to end
        self._ended = False

    @contextmanager
    def subscribed_to(self, topic: str, *, app_pk: int, is_live: bool = True) -> Iterator[threading.Event]:
        """An event that is set when something happens to `topic`: `request:<request_id>` or `app:<primary key>`.

        `app_pk` is whose caller waits, `is_live` whether that is a live app.
        """
        event = threading.Event()
        with self._lock:
            self._waiters[topic].add(event)
            self._of_app[app_pk] += 1
            self._not_live += not is_live
            begins, self._listens = not self._listens, True
        if begins:
            background.later(0.0, self._listen)
        try:
            yield event
        finally:
            with self._lock:
                self._waiters[topic].discard(event)
                self._of_app[app_pk] -= 1
                self._not_live -= not is_live
                if not self._of_app[app_pk]:
                    del self._of_app[app_pk]
                if not self._waiters[topic]:
                    del self._waiters[topic]

    def count(self) -> int:
        with self._lock:
            return sum(map(len, self._waiters.values()))

    def waiters_of(self, app_pk: int) -> int:
        """How many callers of this app wait in this process."""
        with self._lock:
            return self._of_app[app_pk]

    def is_full(self, app_pk: int, *, is_live: bool = True) -> bool:
        """Whether this process, or this app's share of it, holds as many waiting callers as it admits, or is ending.

        Test and personal apps have their share together: who makes some of them takes no place of the live ones.
        """
        with self._lock:
            if self._ended:
                return True
            if not is_live and self._not_live >= _shared_by_not_live():
                return True
            waiter_count = sum(map(len, self._waiters.values()))
            return waiter_count >= settings.STATUS_WAITERS or self._of_app[app_pk] >= settings.STATUS_WAITERS_PER_APP

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
        return not self.count() and not self._listens

    def _wake(self, app_pk: object, request_id: object) -> None:
        with self._lock:
            woken = self._waiters.get(f"request:{request_id}", set()) | self._waiters.get(f"app:{app_pk}", set())
        for event in woken:
            event.set()

    def _wake_all(self) -> None:
        with self._lock:
            woken = set().union(*self._waiters.values())
        for event in woken:
            event.set()

    def _listen(self) -> None:
        """Begin to hear, on the thread for what blocks, unless nobody waits any more."""
        if not self._has_waiters():
            return
        try:
            listener = _connected() if connection.vendor == "postgresql" else None
        except Exception:
            self._begin_again()
            return
        if listener is None:
            self._poll(None)
            return
        self._wake_all()  # whatever happened before LISTEN took effect
        descriptor = listener.fileno()  # asked now: a broken one has none
        loop_thread.when_readable(descriptor, partial(self._hear, listener, descriptor))
        loop_thread.call(partial(self._is_still_needed, listener, descriptor))

    def _has_waiters(self) -> bool:
        with self._lock:
            self._listens = bool(self._waiters)
            return self._listens

    def _begin_again(self) -> None:
        """After it broke, called while the exception is handled."""
        _log.exception("the listener for notices broke and starts again")
        self._wake_all()
        background.later(_RELISTEN_AFTER, self._listen)

    def _hear(self, listener: psycopg.Connection[Any], descriptor: int) -> None:
        try:
            listener.pgconn.consume_input()
            while notice := listener.pgconn.notifies():
                self._wake(*notice.extra.decode().split(" ", 1))
        except psycopg.Error:
            _end(listener, descriptor)
            self._begin_again()

    def _is_still_needed(self, listener: psycopg.Connection[Any], descriptor: int) -> None:
        if listener.closed:
            return  # it broke
        if self._has_waiters():
            loop_thread.later(_LISTEN_FOR, partial(self._is_still_needed, listener, descriptor))
        else:
            _end(listener, descriptor)  # the next waiter begins anew

    def _poll(self, known: set[int] | None) -> None:
        """Look for new notices, and again after a moment; `known` are those of the look before."""
        try:
            newest = rows(_NEWEST_NOTICES)
        except Exception:
            connection.close()  # a broken one is not used again
            self._begin_again()
            return
        if known is None:
            self._wake_all()  # whatever happened before that
        for row in newest:
            if known is not None and row["id"] not in known:
                self._wake(row["app_id"], row["request_id"])
        if self._has_waiters():
            background.later(_POLL_EVERY, partial(self._poll, {row["id"] for row in newest}))


def most_of_app(*, is_live: bool) -> int:
    """How many callers of one app a process holds at most."""
    most: int = settings.STATUS_WAITERS_PER_APP
    return most if is_live else min(most, _shared_by_not_live())


def _shared_by_not_live() -> int:
    return max(1, settings.STATUS_WAITERS // _NOT_LIVE)


def _connected() -> psycopg.Connection[Any] | None:
    """A session that listens, or None where a pooler answers, behind which nothing is heard."""
    listener: psycopg.Connection[Any] = psycopg.connect(**listeners_address(), autocommit=True, prepare_threshold=None)
    silent = loop_thread.later(_ANSWER_TIMEOUT, partial(break_connection, listener))
    try:
        if not leads_through_pooler(listener):
            listener.execute(f"LISTEN {CHANNEL}")
            return listener
    except BaseException:
        listener.close()
        raise
    finally:
        silent.cancel()
    listener.close()
    _log_pooler()
    return None


def _end(listener: psycopg.Connection[Any], descriptor: int) -> None:
    """On the loop's thread. Where it broke, libpq has closed the socket, and the next gets the same descriptor."""
    loop_thread.forget(descriptor)
    listener.close()


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
def _log_pooler() -> None:
    """Once a process."""
    _log.warning("LISTEN would lead through a pooler: notices are polled; DATABASE_LISTEN_URL leads past it")


hub = _Hub()
shutdown.when_it_begins(hub.end)


def wait_for_change(*, app: AppContext, request_id: str, seconds: float) -> ConsentStatus:
    """The status body once the request is no longer pending, or when `seconds` are over. As `wait_while_pending`."""

    def look() -> ConsentStatus:
        return status.for_app(app_pk=app.app_pk, request_id=request_id)

    return wait_while_pending(look, topic=f"request:{request_id}", app=app, seconds=seconds)


def wait_while_pending(look: Callable[[], _Body], *, topic: str, app: AppContext, seconds: float) -> _Body:
    """What `look` finds once its `status` is no longer pending, or when `seconds` are over.

    Raises `InvalidToken` or `AppSuspended` where that happened while the call was held.

    The database connection goes back to the pool while this thread sleeps. Where the process holds too many callers
    already, or is about to end, it answers at once: a poll is always allowed.
    """
    deadline = time.monotonic() + seconds
    body = look()
    if body["status"] != RequestStatus.PENDING or hub.is_full(app.app_pk, is_live=app.is_live):
        return body
    with hub.subscribed_to(topic, app_pk=app.app_pk, is_live=app.is_live) as event:
        while True:
            event.clear()
            body = look()
            remaining = deadline - time.monotonic()
            if body["status"] != RequestStatus.PENDING or remaining <= 0 or hub.has_ended():
                return body
            connection.close()
            event.wait(min(remaining, _LOOK_AGAIN))
            require_still_let_in(app.token_pk)
