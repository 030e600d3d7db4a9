"""The task that looks whether there is anything to do."""

import logging
import time

from celery import current_app, shared_task
from django.db import Error, InterfaceError, OperationalError
from django.utils.module_loading import import_string

from config.timer import WATCHED

_looked: dict[str, float] = {}  # name → by the monotonic clock of this process
_EARLY = 0.5  # seconds: the timer is not punctual, and what is looked for every 10 must not wait for 12
_log = logging.getLogger(__name__)


@shared_task
def look() -> int:
    """Start each task whose time has come again and that has something to do; returns how many."""
    started = 0
    for name, watched in WATCHED.items():
        now = time.monotonic()
        if now - _looked.get(name, float("-inf")) < watched.seconds - _EARLY:
            continue
        _looked[name] = now
        if _is_due(watched.is_due):
            current_app.tasks[watched.task].delay()
            started += 1
    return started


def _is_due(question: str) -> bool:
    """What cannot be asked is due, so that its task fails in its own name and keeps nothing else back."""
    try:
        return bool(import_string(question)())
    except (OperationalError, InterfaceError):
        raise  # the database is away, and so is all the rest
    except Error:
        _log.exception("%s could not be asked", question)
        return True
