"""Writes down every call of an app without holding it up: rows are gathered, and one thread writes them in batches.

A killed process loses at most REQUEST_LOG_FLUSH_SECONDS of them. While the database is away rows wait, up to
REQUEST_LOG_WAITING; what comes beyond that is dropped, counted and told in the service's own log.
"""

import logging
import re
import threading
import time
from collections import deque
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse

from common.request_notes import OPERATION, PROBLEM_CODE
from common.shutdown import shutdown
from common.sql.inserts import insert_rows
from developers.apps.models import App
from developers.request_log.models import LoggedRequest

_log = logging.getLogger(__name__)
_BATCH = 2000  # rows of one statement
_LAST_LOOK = 0.1  # seconds between two looks whether a process that is about to end has answered its last call
_PLACEHOLDER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")


class _Call(NamedTuple):
    """A call as it waits to be written; `at` is when it was answered, as a Unix time."""

    app_pk: int
    at: float
    method: str
    route: str
    status: int
    code: str
    trace_id: str
    seconds: float


class _Recorder:
    """The calls of this process that wait, and the thread that writes them."""

    def __init__(self) -> None:
        self._waiting: deque[_Call] = deque()
        self._dropped = 0
        self._starting = threading.Lock()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, call: _Call) -> None:
        if len(self._waiting) >= settings.REQUEST_LOG_WAITING:
            self._dropped += 1  # two threads at once may count one for two: it is told as an alarm, not as a sum
            return
        self._waiting.append(call)
        if self._thread is None:
            self._start()

    def flush(self) -> None:
        """Write what waits; raises `DatabaseError` where that cannot be, and keeps what is not written."""
        with self._writing:
            while batch := [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]:
                try:
                    _write(batch)
                except (DatabaseError, InterfaceError):
                    self._waiting.extendleft(reversed(batch))
                    raise
            dropped, self._dropped = self._dropped, 0
        if dropped:
            _log.error("%d calls of apps are missing in the request log: too many waited for the database", dropped)

    def forget(self) -> None:
        """Drop what waits."""
        self._waiting.clear()
        self._dropped = 0

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_on_time, name="request-log", daemon=True)
                self._thread.start()

    def _write_on_time(self) -> None:
        is_away = False
        while True:
            time.sleep(settings.REQUEST_LOG_FLUSH_SECONDS or 1)
            is_away = self._attempt(was_away=is_away)

    def _attempt(self, *, was_away: bool = False) -> bool:
        """Flush, and whether the database is away; told once, however often it is tried."""
        if not self._waiting:
            return was_away
        try:
            self.flush()
        except (DatabaseError, InterfaceError) as error:
            if not was_away:
                _log.warning("The request log waits for the database: %s", type(error).__name__)
            return True
        except Exception:  # a thread that ends would let the rows pile up and be dropped
            _log.exception("the request log could not be written and is tried again")
            return True
        finally:
            connection.close()  # back to the pool: nobody needs it until the next batch
        return False

    def write_until_the_end(self) -> None:
        """Write, and once more when the last call was answered; the process waits for this thread."""
        self._attempt()
        while threading.main_thread().is_alive():
            time.sleep(_LAST_LOOK)
        self._attempt()


def _write(calls: list[_Call]) -> None:
    try:
        insert_rows(LoggedRequest, [_row(call) for call in calls])
    except IntegrityError:  # an app was deleted meanwhile, and what it called is of no interest to anybody
        there = set(App.objects.filter(pk__in={call.app_pk for call in calls}).values_list("pk", flat=True))
        if left := [_row(call) for call in calls if call.app_pk in there]:
            insert_rows(LoggedRequest, left)


def _row(call: _Call) -> dict[str, Any]:
    return {
        "app_id": call.app_pk,
        "at": datetime.fromtimestamp(call.at, UTC),
        "method": call.method[:8],
        "route": call.route[:120],
        "status": call.status,
        "code": call.code[:48],
        "trace_id": call.trace_id,
        "ms": round(call.seconds * 1000),
    }


_recorder = _Recorder()


def note(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """Write this call down where an app was known by its token. A stream is written down when it begins."""
    app_pk = getattr(getattr(request, "auth", None), "app_pk", None)
    if app_pk is None or not settings.REQUEST_LOG_FLUSH_SECONDS:
        return
    match, notes = request.resolver_match, request.META
    route = _spelled(match.route) if match else ""
    if OPERATION in notes:
        route = f"{route} {notes[OPERATION]}"
    _recorder.add(
        _Call(
            app_pk, time.time(), request.method or "", route, response.status_code,
            notes.get(PROBLEM_CODE, ""), getattr(request, "trace_id", ""), seconds,
        )
    )  # fmt: skip


@lru_cache(maxsize=512)
def _spelled(route: str) -> str:
    """`api/v1/receipts/<str:receipt_id>` as the documents write it: `/api/v1/receipts/{receipt_id}`."""
    return "/" + _PLACEHOLDER.sub(r"{\1}", route).rstrip("/")


def flush_request_log() -> None:
    """Write what waits in this process."""
    _recorder.flush()


def forget_waiting() -> None:
    """Drop what waits in this process."""
    _recorder.forget()


def _write_before_the_end() -> None:
    # a thread of its own, since a database that is away is to hold up nothing else that ends
    threading.Thread(target=_recorder.write_until_the_end, name="request-log-end").start()


shutdown.when_it_begins(_write_before_the_end)
