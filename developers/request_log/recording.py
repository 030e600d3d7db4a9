"""Writes down every call of an app without holding it up: rows are gathered, and written in batches in the background.

A killed process loses at most REQUEST_LOG_FLUSH_SECONDS of them. While the database is away rows wait, up to
REQUEST_LOG_WAITING; what comes beyond that is dropped, counted and told in the service's own log.
"""

import logging
import re
import threading
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse

from common.background import background
from common.batches import delete_all
from common.clock import database_now
from common.request_notes import OPERATION, PROBLEM_CODE
from common.sql.inserts import insert_rows
from developers.apps.models import App
from developers.request_log.models import LoggedRequest

_log = logging.getLogger(__name__)
_BATCH = 2000  # rows of one statement
_PLACEHOLDER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")
_AT_ONCE = 60.0  # seconds of one run


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
    """The calls of this process that wait."""

    def __init__(self) -> None:
        self._queue: deque[_Call] = deque()
        self._dropped = 0
        self._writing = threading.Lock()
        self._is_due = False  # whether somebody will come and write
        self._is_away = False  # the database, as far as was told

    def add(self, call: _Call) -> None:
        if len(self._queue) >= settings.REQUEST_LOG_WAITING:
            self._dropped += 1  # two threads at once may count one for two: it is told as an alarm, not as a sum
            return
        self._queue.append(call)
        if not self._is_due:  # two threads at once may both say so: the second finds nothing to write
            self._schedule_flush()

    def flush(self) -> None:
        """Write what waits; raises `DatabaseError` where that cannot be, and keeps what is not written."""
        with self._writing:
            while batch := [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]:
                try:
                    _write(batch)
                except (DatabaseError, InterfaceError):
                    self._queue.extendleft(reversed(batch))
                    raise
            dropped, self._dropped = self._dropped, 0
        if dropped:
            _log.error("%d calls of apps are missing in the request log: too many waited for the database", dropped)

    def _schedule_flush(self) -> None:
        self._is_due = True
        background.later(settings.REQUEST_LOG_FLUSH_SECONDS or 1, self._write_on_time, at_end=True)

    def _write_on_time(self) -> None:
        self._is_due = False  # first: what is added from here on may be missed by this batch
        try:
            self.flush()
        except (DatabaseError, InterfaceError) as error:
            connection.close()  # a broken one is not used again
            if not self._is_away:  # told once, however often it is tried
                _log.warning("The request log waits for the database: %s", type(error).__name__)
            self._is_away = True
            self._schedule_flush()
        except Exception:
            self._schedule_flush()  # or rows would pile up and be dropped
            raise
        else:
            self._is_away = False


def _write(calls: list[_Call]) -> None:
    try:
        insert_rows(LoggedRequest, [_row(call) for call in calls])
    except IntegrityError:  # an app was deleted meanwhile, and what it called is of no interest to anybody
        there = set(App.objects.filter(pk__in={call.app_pk for call in calls}).values_list("pk", flat=True))
        if kept := [_row(call) for call in calls if call.app_pk in there]:
            insert_rows(LoggedRequest, kept)


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


def forget_old_requests() -> int:
    """Delete what is older than REQUEST_LOG_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.REQUEST_LOG_DAYS)
    return delete_all(LoggedRequest.objects.filter(at__lt=limit).order_by("at"), most_seconds=_AT_ONCE)
