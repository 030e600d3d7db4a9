"""Telling the worker that there is something to do, without waiting for the broker.

The rows are the queue: whoever has work leaves a row, and the worker's own sweeps find it. So a message only makes it
quicker, and a broker that is away or says nothing must not hold up or fail what a person does.
"""

import logging
import time
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings

from common.background import background

_PAUSE = 10.0  # seconds without asking the broker again after it failed: others wait for that thread, too
_log = logging.getLogger(__name__)
_retry_at = 0.0  # by the monotonic clock


def enqueue(task: str, *arguments: Any) -> None:
    """Hand the task of this name to the worker as soon as the broker takes it, or never; call it after the commit."""
    if getattr(settings, "CELERY_TASK_ALWAYS_EAGER", False):
        current_app.tasks[task].apply_async(arguments)
    elif settings.CELERY_BROKER_URL.startswith("spool:"):
        _send(task, arguments)  # a folder of this machine
    elif not background.soon(partial(_send, task, arguments)):
        _log.warning("%s is left to the sweep: too much waits in the background", task)


def _send(task: str, arguments: tuple[Any, ...]) -> None:
    global _retry_at
    if time.monotonic() < _retry_at:
        return
    try:
        current_app.tasks[task].apply_async(arguments, retry=False)
    except Exception as error:  # whatever the broker's library raises
        _retry_at = time.monotonic() + _PAUSE
        _log.warning("%s, and all for %d s, is left to the sweep: %s", task, _PAUSE, type(error).__name__)
