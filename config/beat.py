"""The timer: Celery's, which asks the rows first, so that a service with nothing to do does nothing."""

import logging
import time
from typing import Any

from celery.beat import PersistentScheduler
from django.db import connection
from django.utils.module_loading import import_string

from config.timer import ANYWAY_AFTER, IS_DUE

_log = logging.getLogger(__name__)


class Scheduler(PersistentScheduler):
    """Sends the message of a task whose time has come where its queue has something to do."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._began = time.monotonic()
        self._sent: dict[str, float] = {}

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        now = time.monotonic()
        question = IS_DUE.get(entry.name)
        if question and now - self._sent.get(entry.name, self._began) < ANYWAY_AFTER and not _is_due(question):
            return
        self._sent[entry.name] = now
        super().apply_entry(entry, producer=producer)


def _is_due(question: str) -> bool:
    """What cannot be asked is due: its task says what is wrong, in its own name."""
    try:
        return bool(import_string(question)())
    except Exception as error:  # a database that is away, or a defect; the timer goes on
        _log.warning("%s could not be asked: %s", question, type(error).__name__)
        connection.close()  # a broken one is not used again
        return True
