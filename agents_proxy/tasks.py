"""Every task of this room, for the worker, which looks for them here."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import wraps
from threading import BoundedSemaphore
from typing import Any

from celery import shared_task
from django.conf import settings

from agents_proxy.activations import deliveries as sendings
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import corrections, steps
from agents_proxy.deletions import deliveries as deletions
from agents_proxy.financial.tasks import maintain_institutions, refresh_item
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.models import Call
from common.batches import delete_all
from common.clock import database_now

__all__ = ["maintain_institutions", "refresh_item"]  # tasks, too

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


@shared_task(name="agents_proxy.tasks.resume_analyses")
def resume_analyses() -> int:
    """The runs that no worker holds."""
    return _hand_out(run_analysis, steps.abandoned_runs())


@shared_task(name="agents_proxy.tasks.tell_corrections")
@_within(ANALYSES)
def tell_corrections(user_pk: int) -> None:
    """Tell the update agent of what a person corrected."""
    corrections.send_corrections(user_pk)


@shared_task(name="agents_proxy.tasks.resume_corrections")
def resume_corrections() -> int:
    return _hand_out(tell_corrections, corrections.people_with_due_corrections())


@shared_task(name="agents_proxy.tasks.purge_analyses")
def purge_analyses() -> int:
    """Delete the analyses whose time is over; returns how many."""
    return analysis_actions.purge_analyses()


@shared_task(name="agents_proxy.tasks.send_activation")
@_within(SENDINGS)
def send_activation(activation_pk: int) -> None:
    sendings.send(activation_pk)


@shared_task(name="agents_proxy.tasks.resume_activations")
def resume_activations() -> int:
    return _hand_out(send_activation, sendings.due())


@shared_task(name="agents_proxy.tasks.send_deletion")
@_within(DELETIONS)
def send_deletion(deletion_pk: int) -> None:
    deletions.send(deletion_pk)


@shared_task(name="agents_proxy.tasks.resume_deletions")
def resume_deletions() -> int:
    return _hand_out(send_deletion, deletions.due())


@shared_task(name="agents_proxy.tasks.forget_deletions")
def forget_deletions() -> int:
    """Delete what was kept of erasures long enough; returns how many rows went."""
    return deletions.forget_deletions()


@shared_task(name="agents_proxy.tasks.forget_agent_calls")
def forget_agent_calls() -> int:
    """Delete the calls that are older than AGENT_CALLS_KEPT_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.AGENT_CALLS_KEPT_DAYS)
    return delete_all(Call.objects.filter(started_at__lt=limit).order_by("started_at"), most_seconds=_AT_ONCE)


@shared_task(name="agents_proxy.tasks.write_down_expired_consents")
def write_down_expired_consents() -> int:
    """Tell apps of the consents that ran out; returns how many."""
    return consents.write_down_expiry()
