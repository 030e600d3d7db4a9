"""The timer: Celery's, which asks the rows of each queue before it sends the message of its entry."""

import logging
import math
import time
from typing import Any

from celery.beat import PersistentScheduler
from django.db import connection
from django.utils.module_loading import import_string

from common import heartbeats
from common.clock import one_moment
from config.schedule import ANYWAY_AFTER, LOOK, TASK, WATCHED, Watched

_EARLY = 0.5  # seconds: the look is not punctual, and what is asked every 10 must not wait for 12
_log = logging.getLogger(__name__)


class Scheduler(PersistentScheduler):
    """One entry asks all queues: an entry for each would cost more than the questions do."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._began, self._beaten = time.monotonic(), -math.inf
        self._attempted: dict[str, float] = {}
        self._sent: dict[str, float] = {}

    def tick(self, *args: Any, **named: Any) -> float:
        """If the clock went back, entries last run in the future would not run until it catches up: date them now."""
        ahead = [each for each in self.schedule.values() if each.last_run_at and each.last_run_at > each.default_now()]
        for entry in ahead:
            entry.last_run_at = entry.default_now()
        if ahead:
            _log.warning("the clock was set back, and the timer with it")
            self._heap = None
        return float(super().tick(*args, **named))

    def schedules_equal(self, old_schedules: Any, new_schedules: Any) -> bool:
        """The schedule never changes at run time, so skip the comparison at each tick."""
        return old_schedules is not None

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        if entry.name != LOOK:
            super().apply_entry(entry, producer=producer)
            return
        with one_moment():
            if time.monotonic() - self._beaten >= heartbeats.EVERY - _EARLY:
                self._beaten = time.monotonic()
                heartbeats.beat("timer")
            due = [name for name, watched in WATCHED.items() if self._has_work(name, watched)]
        for name in due:
            super().apply_entry(self.Entry(name=name, task=TASK, args=(name,), app=self.app), producer=producer)

    def _has_work(self, name: str, watched: Watched) -> bool:
        """False until the time of this entry has come again."""
        now = time.monotonic()
        if now - self._attempted.get(name, -math.inf) < watched.seconds - _EARLY:
            return False
        self._attempted[name] = now
        is_late = now - self._sent.get(name, self._began) > ANYWAY_AFTER
        has_work = is_late or any(_is_due(question) for question in watched.work.values())
        if has_work:
            self._sent[name] = now
        return has_work


def _is_due(question: str) -> bool:
    """What cannot be asked is due: its work says what is wrong, in its own name."""
    try:
        return bool(import_string(question)())
    except Exception as error:  # a database that is away, or a defect; the timer goes on
        _log.warning("%s could not be asked: %s", question, type(error).__name__)
        connection.close()  # a broken one is not used again
        return True
