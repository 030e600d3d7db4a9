"""What the worker does for analyses."""

import threading

from celery import shared_task
from django.conf import settings

from agents_proxy import stepping, workflow
from agents_proxy.aggregator_tasks import refresh_item, tend_institutions

# slow agents take no more of this process's threads than these; the rest of its work goes on beside them
_places = threading.BoundedSemaphore(settings.ANALYSES_AT_ONCE)


@shared_task
def run_analysis(run_pk: int) -> None:
    """Ask the agents of a run, one after another; without a free place, the sweeper sends it again."""
    if not _places.acquire(blocking=False):
        return
    try:
        stepping.run_through(run_pk)
    finally:
        _places.release()


@shared_task
def resume_analyses() -> int:
    """Hand the runs that no worker holds to workers; returns how many."""
    forsaken = stepping.forsaken_runs()
    for run_pk in forsaken:
        run_analysis.delay(run_pk)
    return len(forsaken)


@shared_task
def purge_analyses() -> int:
    """Delete the analyses whose time is over; returns how many."""
    return workflow.purge_analyses()


# the worker looks for its tasks in this module alone
__all__ = ["purge_analyses", "refresh_item", "resume_analyses", "run_analysis", "tend_institutions"]
