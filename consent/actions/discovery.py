"""Who looked at what a person could share, and who keeps asking about people who do not exist."""

import logging
import threading
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection

from accounts.database import database_now
from common.shutdown import shutdown
from consent.errors import TooManyRequests

_log = logging.getLogger(__name__)
_HOUR = timedelta(hours=1)
_NOTE = """
INSERT INTO discovery_log (app_id, user_id, day, count, first_at, last_at) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (app_id, user_id, day)
DO UPDATE SET count = discovery_log.count + excluded.count, last_at = excluded.last_at
"""
# Further counts find the day's row, or nothing where the person or the app is gone: no discovery fails for another's.
_COUNT = """
UPDATE discovery_log SET count = count + %s, last_at = %s WHERE app_id = %s AND user_id = %s AND day = %s
"""
_MISS = """
INSERT INTO discovery_misses (app_id, minute, count) VALUES (%s, %s, 1)
ON CONFLICT (app_id, minute) DO UPDATE SET count = discovery_misses.count + 1
"""
MISSES = "SELECT coalesce(sum(m.count), 0) FROM discovery_misses m WHERE m.app_id = %(app_pk)s AND m.minute > %(since)s"

_Key = tuple[int, int, date]


class _Counts:
    """This process's discoveries of the day: the first of each is written at once, the rest every few seconds.

    A process that is killed loses at most DISCOVERY_FLUSH_SECONDS of further counts, never the fact of a discovery.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[_Key, int] = {}
        self._timer: threading.Timer | None = None

    def note(self, app_pk: int, user_pk: int) -> None:
        today = datetime.now(UTC).date()
        key = (app_pk, user_pk, today)
        with self._lock:
            written = key in self._counts
            if written:
                self._counts[key] += 1
            if written and self._timer is None and settings.DISCOVERY_FLUSH_SECONDS:
                self._timer = threading.Timer(settings.DISCOVERY_FLUSH_SECONDS, self._flush_on_time)
                self._timer.daemon = True
                self._timer.start()
        if not written:
            # whoever comes before the row is certain writes it too: the statement adds up, and may fail for another
            _write_first(key)
            with self._lock:
                self._counts.setdefault(key, 0)

    def flush(self) -> None:
        """Write what was counted, and forget the days that are over."""
        today = datetime.now(UTC).date()
        with self._lock:
            waiting = {key: count for key, count in self._counts.items() if count}
            self._counts = {key: 0 for key in self._counts if key[2] == today}
            self._timer = None
        try:
            _write_further(waiting)
        except DatabaseError:
            with self._lock:  # the database may be back for the next ones
                for key, count in waiting.items():
                    self._counts[key] = self._counts.get(key, 0) + count
            raise

    def _flush_on_time(self) -> None:
        try:
            self.flush()
        except DatabaseError:
            _log.warning("Counts of discoveries wait for the database", exc_info=True)
        finally:
            connection.close()  # this thread ends here


def _write_first(key: _Key) -> None:
    app_pk, user_pk, day = key
    now = connection.ops.adapt_datetimefield_value(datetime.now(UTC))
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [app_pk, user_pk, connection.ops.adapt_datefield_value(day), 1, now, now])


def _write_further(counts: dict[_Key, int]) -> None:
    now = connection.ops.adapt_datetimefield_value(datetime.now(UTC))
    with connection.cursor() as cursor:
        for (app_pk, user_pk, day), count in sorted(counts.items()):
            cursor.execute(_COUNT, [count, now, app_pk, user_pk, connection.ops.adapt_datefield_value(day)])


_counts = _Counts()


def note_discovery(*, app_pk: int, user_pk: int) -> None:
    """The person sees in the consent app who asked what they could share, and when."""
    _counts.note(app_pk, user_pk)


def flush_discoveries() -> None:
    """Write the counts that wait in this process."""
    _counts.flush()


def misses_since(now: datetime) -> Any:
    """The beginning of the hour that counts, as a query parameter."""
    return connection.ops.adapt_datetimefield_value(now - _HOUR)


def refuse_guessing(*, app_pk: int, misses: int | None = None) -> None:
    """Refuse an app that met too many unknown people within the hour, whoever it asks about next.

    Refusing only the misses would tell which people exist.
    """
    limit = settings.UNKNOWN_USERS_PER_HOUR
    if not limit:
        return
    if misses is None:
        with connection.cursor() as cursor:
            cursor.execute(MISSES, {"app_pk": app_pk, "since": misses_since(database_now())})
            misses = int(cursor.fetchone()[0])
    if misses > limit:
        raise TooManyRequests("This app asked about too many people who do not exist.", headers={"Retry-After": "600"})


def count_miss(*, app_pk: int) -> None:
    """One more unknown person for this app; raises where that was one too many."""
    minute = database_now().replace(second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(_MISS, [app_pk, connection.ops.adapt_datetimefield_value(minute)])
    refuse_guessing(app_pk=app_pk)


def _flush_before_the_end() -> None:
    # on a thread of its own, which the process waits for: a database that is away holds up nothing else that ends
    threading.Thread(target=_counts._flush_on_time, name="discoveries").start()


shutdown.when_it_begins(_flush_before_the_end)
