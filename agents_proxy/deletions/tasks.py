"""What the worker does for deletions elsewhere."""

import threading

from celery import shared_task

from agents_proxy.deletions import deliveries

# slow receivers take no more of this process's threads than these; the rest of its work goes on beside them
_slots = threading.BoundedSemaphore(4)


@shared_task(name="agents_proxy.tasks.send_deletion")
def send_deletion(deletion_pk: int) -> None:
    """Make one attempt; without a free place, the sweeper hands it out again."""
    if not _slots.acquire(blocking=False):
        return
    try:
        deliveries.send(deletion_pk)
    finally:
        _slots.release()


@shared_task(name="agents_proxy.tasks.resume_deletions")
def resume_deletions() -> int:
    """Hand the requests to delete that are due to workers; returns how many."""
    due = deliveries.due()
    for deletion_pk in due:
        send_deletion.delay(deletion_pk)
    return len(due)


@shared_task(name="agents_proxy.tasks.forget_deletions")
def forget_deletions() -> int:
    """Delete what was kept of erasures long enough; returns how many rows went."""
    return deliveries.forget_deletions()
