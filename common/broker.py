"""Telling the worker that there is something to do, without waiting for the broker.

The rows are the queue: whoever has work leaves a row, and the worker's own sweeps find it. So a message only makes it
quicker, and a broker that is away or says nothing must not hold up or fail what a person does.
"""

import logging
import queue
import threading
from typing import Any

from celery import current_app
from django.conf import settings

_MOST_WAITING = 1000  # messages; what comes beyond is left to the sweeps
_log = logging.getLogger(__name__)


class _Sender:
    """One thread, made with the first message, that alone waits for the broker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._messages: queue.Queue[tuple[str, tuple[Any, ...]]] = queue.Queue(_MOST_WAITING)

    def put(self, task: str, arguments: tuple[Any, ...]) -> None:
        try:
            self._messages.put_nowait((task, arguments))
        except queue.Full:
            _log.warning("%s is left to the sweep: the broker takes nothing", task)
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._send_all, name="tell-worker", daemon=True)
                self._thread.start()

    def _send_all(self) -> None:
        while True:
            _send(*self._messages.get())


_sender = _Sender()


def tell_worker(task: str, *arguments: Any) -> None:
    """Hand the task of this name to the worker as soon as the broker takes it, or never; call it after the commit."""
    if settings.REDIS_URL and not getattr(settings, "CELERY_TASK_ALWAYS_EAGER", False):
        _sender.put(task, arguments)
    else:
        _send(task, arguments)  # a folder of this machine


def _send(task: str, arguments: tuple[Any, ...]) -> None:
    try:
        current_app.tasks[task].apply_async(arguments, retry=False)
    except Exception as error:  # whatever the broker's library raises
        if getattr(settings, "CELERY_TASK_ALWAYS_EAGER", False):
            raise  # then it is the task that failed
        _log.warning("%s is left to the sweep: %s", task, type(error).__name__)
