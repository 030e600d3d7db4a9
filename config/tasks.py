"""The one task that the timer sends."""

import logging
import time

from celery import shared_task
from django.db import connection
from django.utils.module_loading import import_string

from common.metrics import TASKS
from common.shutdown import shutdown
from config.schedule import WORK

_log = logging.getLogger(__name__)


@shared_task
def do_work(entry: str) -> int:
    """Call the functions of this entry one after another, each counted and logged in its own name; the sum of answers.

    One that fails keeps no other from its turn, and has its own again when the entry comes next.
    """
    done = 0
    for name in WORK[entry]:
        if shutdown.has_begun():
            break
        began, state = time.perf_counter(), "SUCCESS"
        try:
            done += import_string(name)() or 0
        except Exception:
            state = "FAILURE"
            _log.exception("%s failed", name)
            connection.close_if_unusable_or_obsolete()
        TASKS.labels(name, state).observe(time.perf_counter() - began)
    return done
