"""Who looked at what a person could share."""

import logging
import threading
from datetime import UTC, date, datetime

from django.conf import settings
from django.db import DatabaseError, connection

from common.shutdown import shutdown

_log = logging.getLogger(__name__)
_NOTE = """
INSERT INTO discovery_log (app_id, user_id, day, count, first_at, last_at) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (app_id, user_id, day)
DO UPDATE SET count = discovery_log.count + excluded.count, last_at = excluded.last_at
"""
# Further counts find the day's row, or nothing where the person or the app is gone: no discovery fails for another's.
_COUNT = """
UPDATE discovery_log SET count = count + %s, last_at = %s WHERE app_id = %s AND user_id = %s AND day = %s
"""

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


def _flush_before_the_end() -> None:
    # on a thread of its own, which the process waits for: a database that is away holds up nothing else that ends
    threading.Thread(target=_counts._flush_on_time, name="discoveries").start()


shutdown.when_it_begins(_flush_before_the_end)
