"""What the worker does for analyses."""

import threading

from celery import shared_task
from django.conf import settings

from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import corrections, steps

# slow agents take no more of this process's threads than these; the rest of its work goes on beside them
_slots = threading.BoundedSemaphore(settings.ANALYSES_AT_ONCE)


@shared_task(name="agents_proxy.tasks.run_analysis")
def run_analysis(run_pk: int) -> None:
    """Ask the agents of a run, one after another; without a free place, the sweeper sends it again."""
    if not _slots.acquire(blocking=False):
        return
    try:
        steps.run_through(run_pk)
    finally:
        _slots.release()


@shared_task(name="agents_proxy.tasks.resume_analyses")
def resume_analyses() -> int:
    """Hand the runs that no worker holds to workers; returns how many."""
    abandoned = steps.abandoned_runs()
    for run_pk in abandoned:
        run_analysis.delay(run_pk)
    return len(abandoned)


@shared_task(name="agents_proxy.tasks.tell_corrections")
def tell_corrections(user_pk: int) -> None:
    """Tell the update agent of what a person corrected; without a free place, the sweeper sends it again."""
    if not _slots.acquire(blocking=False):
        return
    try:
        corrections.tell_update_agent(user_pk)
    finally:
        _slots.release()


@shared_task(name="agents_proxy.tasks.resume_corrections")
def resume_corrections() -> int:
    """Hand the corrections that the update agent is to be told of to workers; returns how many people's."""
    waiting = corrections.people_to_tell_of()
    for user_pk in waiting:
        tell_corrections.delay(user_pk)
    return len(waiting)


@shared_task(name="agents_proxy.tasks.purge_analyses")
def purge_analyses() -> int:
    """Delete the analyses whose time is over; returns how many."""
    return analysis_actions.purge_analyses()
