"""Whether this process is about to end, known the moment it is asked to.

A server that is asked to end (SIGTERM, Ctrl-C) lets every answer that is under way come to its end. One that is held
on purpose has to hear of it, or it holds up the end as well. granian sets handlers for the signals after it has loaded
the application, and none of its hooks runs in a worker, so `watch_signals` listens beside those handlers: Python writes
the number of each signal that has one to the descriptor of `signal.set_wakeup_fd`. What is done then must not block.
"""

import math
import os
import signal
import socket
import threading
import time

from django.conf import settings

from common.background import Act, attempt, loop_thread

_COMPLAINT = "a step of the shutdown failed"
_ENDING = frozenset({signal.SIGTERM, signal.SIGINT})


class Shutdown:
    """When the end of a process began, and what is to be done then and when the grace is over.

    What nobody loses by ends at once. A call whose answer cannot be had again has SHUTDOWN_GRACE_SECONDS more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_begin: list[Act] = []
        self._cuts_at = math.inf  # by the monotonic clock
        self._cut_reader, self._cut_writer = os.pipe()

    def has_begun(self) -> bool:
        return self._cuts_at != math.inf

    def time_left(self) -> float:
        """Seconds until what is under way is cut off; endless before the shutdown begins."""
        return max(0.0, self._cuts_at - time.monotonic())

    def when_it_begins(self, act: Act) -> None:
        """Do this once, when the shutdown begins; at once where it has begun."""
        with self._lock:
            self._at_begin.append(act)
            begun = self.has_begun()
        if begun:
            attempt(act, _COMPLAINT)

    @property
    def cut_descriptor(self) -> int:
        """A descriptor that polls as readable once the grace is over; nobody reads from it."""
        return self._cut_reader

    def begin(self) -> None:
        """The process has been asked to end; asked again, nothing more happens."""
        with self._lock:
            if self.has_begun():
                return
            self._cuts_at = time.monotonic() + settings.SHUTDOWN_GRACE_SECONDS
            acts = list(self._at_begin)
        for act in acts:
            attempt(act, _COMPLAINT)
        loop_thread.later(settings.SHUTDOWN_GRACE_SECONDS, lambda: os.write(self._cut_writer, b"\0"))


shutdown = Shutdown()


def watch_signals() -> None:
    """Begin the shutdown when this process gets SIGTERM or SIGINT, whoever handles them.

    Called while the server loads the application, on the main thread; elsewhere nothing happens, since signals are the
    main thread's. Whether the process ends is left to its own handlers: without one, a signal is not seen here either.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.detach(), warn_on_full_buffer=False)
    loop_thread.when_readable(reader.fileno(), lambda: _read_signals(reader))


def _read_signals(reader: socket.socket) -> None:
    if _ENDING.intersection(reader.recv(64)):
        shutdown.begin()
