"""What the worker is told of in this room, and what its timer calls (config/schedule.py)."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import wraps
from threading import BoundedSemaphore
from typing import Any

from celery import shared_task
from django.conf import settings

from agents_proxy.activations import deliveries as sendings
from agents_proxy.analyses import corrections, steps
from agents_proxy.deletions import deliveries as deletions
from agents_proxy.financial.tasks import maintain_institutions, refresh_item
from agents_proxy.proxy.models import Call
from common.batches import delete_all
from common.clock import database_now

__all__ = ["maintain_institutions", "refresh_item"]

_AT_ONCE = 20.0  # seconds of one run
# slow agents and receivers take no more of this process's threads than these; the rest of its work goes on beside them
ANALYSES, SENDINGS, DELETIONS = BoundedSemaphore(settings.ANALYSES_AT_ONCE), BoundedSemaphore(6), BoundedSemaphore(4)


def _within(places: BoundedSemaphore) -> Callable[[Callable[[int], None]], Callable[[int], None]]:
    """Without a free place nothing is done: the sweeper hands the row out again."""

    def limit(work: Callable[[int], None]) -> Callable[[int], None]:
        @wraps(work)
        def limited(pk: int) -> None:
            if places.acquire(blocking=False):
                try:
                    work(pk)
                finally:
                    places.release()

        return limited

    return limit


def _hand_out(task: Any, keys: Iterable[int]) -> int:
    """To workers; returns how many."""
    return len([task.delay(key) for key in keys])


@shared_task(name="agents_proxy.tasks.run_analysis")
@_within(ANALYSES)
def run_analysis(run_pk: int) -> None:
    """Ask the agents of a run, one after another."""
    steps.run_through(run_pk)


def resume_analyses() -> int:
    """The runs that no worker holds."""
    return _hand_out(run_analysis, steps.abandoned_runs())


@shared_task(name="agents_proxy.tasks.tell_corrections")
@_within(ANALYSES)
def tell_corrections(user_pk: int) -> None:
    """Tell the update agent of what a person corrected."""
    corrections.send_corrections(user_pk)


def resume_corrections() -> int:
    return _hand_out(tell_corrections, corrections.people_with_due_corrections())


@shared_task(name="agents_proxy.tasks.send_activation")
@_within(SENDINGS)
def send_activation(activation_pk: int) -> None:
    sendings.send(activation_pk)


def resume_activations() -> int:
    return _hand_out(send_activation, sendings.due())


@shared_task(name="agents_proxy.tasks.send_deletion")
@_within(DELETIONS)
def send_deletion(deletion_pk: int) -> None:
    deletions.send(deletion_pk)


def resume_deletions() -> int:
    return _hand_out(send_deletion, deletions.due())


def forget_agent_calls() -> int:
    """Delete the calls that are older than AGENT_CALLS_KEPT_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.AGENT_CALLS_KEPT_DAYS)
    return delete_all(Call.objects.filter(started_at__lt=limit).order_by("started_at"), most_seconds=_AT_ONCE)
