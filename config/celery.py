"""The worker's entry point, and what goes along with a task: the identifier of the request that asked for it."""

import logging
import os
import threading
import time
from functools import partial
from typing import Any

from celery import Celery, beat, signals
from kombu.transport import TRANSPORT_ALIASES

from common import request_ids
from common.shutdown import shutdown

TRANSPORT_ALIASES["spool"] = "config.spool:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("consent-runtime")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_log = logging.getLogger("tasks")
_REQUEST_ID = "x_request_id"  # in the headers of a message, which a task finds as an attribute of its request
_under_way = threading.local()  # a task begins and ends on one thread


@signals.setup_logging.connect(weak=False)
def _keep_own_logging(**_ignored: Any) -> None:
    """LOGGING and LOG_LEVEL hold for the worker too: with a receiver here, Celery sets up none of its own."""


@signals.celeryd_init.connect(weak=False)
def _keep_timer_inside(**_ignored: Any) -> None:
    """The timer of `worker --beat` is a thread: as a process of its own, Celery's default, it takes 30 MB more."""
    beat.EmbeddedService = partial(beat.EmbeddedService, thread=True)


@signals.before_task_publish.connect(weak=False)
def _send_along(headers: dict[str, Any], **_ignored: Any) -> None:
    if request_id := request_ids.current():
        headers[_REQUEST_ID] = request_id


@signals.task_prerun.connect(weak=False)
def _follow(task_id: str, task: Any, **_ignored: Any) -> None:
    """What the task does and logs belongs to the request that asked for it; a timer's task is its own cause."""
    if task.request.is_eager:
        return  # within the request itself
    _under_way.began = time.perf_counter()
    _under_way.following = request_ids.following(getattr(task.request, _REQUEST_ID, None) or task_id)
    _under_way.following.__enter__()


@signals.task_postrun.connect(weak=False)
def _finish_task(task: Any, state: str, **_ignored: Any) -> None:
    """Log and count the task; from then on its request is not this thread's current one.

    The timer's tasks are logged only where all is: they are several a second.
    """
    if task.request.is_eager:
        return
    level = logging.INFO if getattr(task.request, _REQUEST_ID, None) else logging.DEBUG
    seconds = time.perf_counter() - _under_way.began
    milliseconds = round(seconds * 1000, 1)
    _log.log(level, "task", extra={"task": task.name, "state": state, "ms": milliseconds})
    _under_way.following.__exit__(None, None, None)
    from common.metrics import TASKS  # needs the settings, which `celery --app config` reads after this module

    TASKS.labels(task.name, state).observe(seconds)


@signals.worker_shutting_down.connect(weak=False)
def _begin_shutdown(**_ignored: Any) -> None:
    # sent from within a handler of a signal, which may have interrupted whoever holds a lock
    threading.Thread(target=shutdown.begin, name="shutdown").start()


@signals.worker_ready.connect(weak=False)
def _show_life(**_ignored: Any) -> None:
    from common import heartbeats
    from config import metrics

    heartbeats.start("worker")
    metrics.start()


@signals.beat_init.connect(weak=False)
@signals.worker_init.connect(weak=False)
def _start_telemetry(**_ignored: Any) -> None:
    from django.conf import settings

    if settings.TRACES_TO:
        from config import telemetry

        telemetry.start(settings.TRACES_NAME)


@signals.beat_init.connect(weak=False)
def _show_figures(**_ignored: Any) -> None:
    from config import metrics

    metrics.start()


@signals.worker_init.connect(weak=False)
def _require_keys(**_: Any) -> None:
    """A worker without keys would fail every webhook and every analysis, one by one."""
    from config.checks import require_keys  # needs Django, which is set up by now

    require_keys()
