"""Who looked at what a person could share."""

import logging
import threading
from datetime import UTC, date, datetime

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F

from common.background import background
from common.sql.inserts import add_to_count
from consent.discovery.models import Discovery

_log = logging.getLogger(__name__)
_Key = tuple[int, int, date]


class _Counts:
    """This process's discoveries of the day: the first of each is written at once, the rest every few seconds.

    A process that is killed loses at most DISCOVERY_FLUSH_SECONDS of further counts, never the fact of a discovery.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[_Key, int] = {}
        self._is_due = False  # whether somebody will come and write

    def note(self, app_pk: int, user_pk: int) -> None:
        today = datetime.now(UTC).date()
        key = (app_pk, user_pk, today)
        with self._lock:
            written = key in self._counts
            if written:
                self._counts[key] += 1
            if written and not self._is_due and settings.DISCOVERY_FLUSH_SECONDS:
                self._schedule_flush()
        if not written:
            # whoever comes before the row is certain writes it too: the statement adds up, and may fail for another
            _write_first(key)
            with self._lock:
                self._counts.setdefault(key, 0)

    def flush(self) -> None:
        """Write what was counted, and forget the days that are over."""
        today = datetime.now(UTC).date()
        with self._lock:
            unwritten = {key: count for key, count in self._counts.items() if count}
            self._counts = {key: 0 for key in self._counts if key[2] == today}
            self._is_due = False
        try:
            _write_further(unwritten)
        except DatabaseError:
            with self._lock:  # the database may be back for the next ones
                for key, count in unwritten.items():
                    self._counts[key] = self._counts.get(key, 0) + count
            raise

    def _schedule_flush(self) -> None:
        self._is_due = True
        background.later(settings.DISCOVERY_FLUSH_SECONDS, self._flush_on_time, at_end=True)

    def _flush_on_time(self) -> None:
        try:
            self.flush()
        except DatabaseError as error:
            connection.close()  # a broken one is not used again
            _log.warning("Counts of discoveries wait for the database: %s", type(error).__name__)
            with self._lock:
                if not self._is_due:
                    self._schedule_flush()


def _write_first(key: _Key) -> None:
    app_pk, user_pk, day = key
    now = datetime.now(UTC)
    of_day = {"app": app_pk, "user": user_pk, "day": day}
    add_to_count(Discovery, key=of_day, first={"first_at": now}, latest={"last_at": now})


def _write_further(counts: dict[_Key, int]) -> None:
    """Add to the day's rows. Where the person or the app is gone there is none: no discovery fails for another's."""
    now = datetime.now(UTC)
    for (app_pk, user_pk, day), count in sorted(counts.items()):
        of_day = Discovery.objects.filter(app_id=app_pk, user_id=user_pk, day=day)
        of_day.update(count=F("count") + count, last_at=now)


_counts = _Counts()


def note_discovery(*, app_pk: int, user_pk: int) -> None:
    """The person sees in the consent app who asked what they could share, and when."""
    _counts.note(app_pk, user_pk)
