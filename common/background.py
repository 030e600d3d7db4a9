"""What a process does beside its answers, on two threads and no more.

`loop_thread`, named `events`, waits for descriptors and for time, and for nothing else: signals, the notices of
PostgreSQL, the watch over the database. So it hears of the end, and breaks what hangs, whatever the database and the
broker do.

`background` does what may block, one job after the other: batches of rows, messages to the broker, connecting. Each
job is short, or gives up by itself, since the others wait for it. Both threads begin with their first work.
"""

import asyncio
import heapq
import itertools
import logging
import math
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any

from django.db import connection

_log = logging.getLogger(__name__)
_CHECK_INTERVAL = 0.25  # seconds between two looks whether the main thread has ended
_KEPT_FOR = 1.0  # seconds that a database connection is kept for the next job
_MOST_WAITING = 1000  # jobs that nobody misses; what comes beyond is not taken

Act = Callable[[], object]


class LoopThread:
    """An event loop on a thread of its own. What runs there must not block."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def call(self, act: Act) -> None:
        self._started().call_soon_threadsafe(attempt, act)

    def run(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        """Run a coroutine there; the answer can cancel it, from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._started())

    def later(self, seconds: float, act: Act) -> "Future[None]":
        """Do this there after so many seconds, unless the answer is cancelled before."""

        async def wait_and_act() -> None:
            await asyncio.sleep(seconds)
            attempt(act)

        return self.run(wait_and_act())

    def when_readable(self, descriptor: int, act: Act) -> None:
        """Do this there whenever there is something to read; `forget` ends it. Before the descriptor is closed."""
        loop = self._started()
        loop.call_soon_threadsafe(loop.add_reader, descriptor, partial(attempt, act))

    def forget(self, descriptor: int) -> None:
        """To be called on the loop's own thread."""
        self._started().remove_reader(descriptor)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="events", daemon=True).start()
            return self._loop


class JobThread:
    """One thread for jobs that may block. The process waits for it at its end.

    A job that raises is logged and its database connection closed; it comes again only if it says so itself.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._order = itertools.count()
        self._due: list[tuple[float, int, Act, bool]] = []  # a heap: when, which came first, what, even at the end
        self._thread: threading.Thread | None = None

    def soon(self, job: Act) -> bool:
        """Do it next. False where too much waits already, and it is not taken. Dropped where the process ends first."""
        with self._changed:
            if len(self._due) >= _MOST_WAITING:
                return False
        self.later(0.0, job)
        return True

    def later(self, seconds: float, job: Act, *, at_end: bool = False) -> None:
        """Do it after so many seconds; with `at_end` once more than not at all, if the process ends before.

        The end comes when the main thread is over and the last call was answered.
        """
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), job, at_end))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="background")
                self._thread.start()
            self._changed.notify()

    def _work(self) -> None:
        while threading.main_thread().is_alive():
            if (job := self._next()) and not attempt(job):
                connection.close()  # it may be broken
        with self._changed:
            last = [job for _, _, job, at_end in sorted(self._due, key=lambda one: one[:2]) if at_end]
        for job in last:
            attempt(job)
        connection.close()

    def _next(self) -> Act | None:
        """The job that is due, or None after a moment."""
        with self._changed:
            if self._wait() <= 0:
                return heapq.heappop(self._due)[2]
            keeps = self._wait() < _KEPT_FOR
        if not keeps:
            connection.close()  # back to the pool meanwhile
        with self._changed:
            self._changed.wait(max(0.0, min(self._wait(), _CHECK_INTERVAL)))
        return None

    def _wait(self) -> float:
        """Seconds until the next job is due."""
        return self._due[0][0] - time.monotonic() if self._due else math.inf


def attempt(act: Act, complaint: str = "what was to be done in the background failed") -> bool:
    """Whether it did not raise; what it raises is logged under `complaint`."""
    try:
        act()
    except Exception:
        _log.exception(complaint)
        return False
    return True


loop_thread, background = LoopThread(), JobThread()
