"""What the worker does for sendings."""

import threading

from celery import shared_task

from agents_proxy.activations import deliveries

# slow destinations take no more of this process's threads than these; the rest of its work goes on beside them
_slots = threading.BoundedSemaphore(6)


@shared_task(name="agents_proxy.tasks.send_activation")
def send_activation(activation_pk: int) -> None:
    """Make one attempt; without a free place, the sweeper hands it out again."""
    if not _slots.acquire(blocking=False):
        return
    try:
        deliveries.send(activation_pk)
    finally:
        _slots.release()


@shared_task(name="agents_proxy.tasks.resume_activations")
def resume_activations() -> int:
    """Hand the sendings that are due to workers; returns how many."""
    due = deliveries.due()
    for activation_pk in due:
        send_activation.delay(activation_pk)
    return len(due)
