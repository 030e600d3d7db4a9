"""What the worker does on a timer. Nothing depends on its punctuality: readers go by the clock."""

import threading

from celery import shared_task

from consent.connections import actions as connections
from consent.decisions import expiry, late_entries, unused, withdrawals
from consent.exports.read_batches import chain_pending_reads
from consent.ledger.pending import write_pending_entries
from consent.log import cosigning, sequencing
from consent.notices.webhooks import deliver_due
from consent.requests import published_keys
from consent.retention import forget_old_records, forget_what_is_over

# sites that hang hold no more of this process's threads than these; the rest of its work goes on beside them
_fetches = threading.BoundedSemaphore(2)
_AT_ONCE = 20.0  # seconds after which a long run leaves the rest to the next, so that other tasks get their turn


@shared_task
def write_down_expiry() -> int:
    """Write down requests, grants and connections that the clock has ended."""
    return expiry.write_down_expiry() + connections.end_overdue()


@shared_task
def end_unused_access() -> int:
    """Announce the end of access that nobody uses, and end what was announced."""
    return unused.end_unused()


@shared_task
def finish_withdrawals() -> int:
    """Cancel what waits on scopes that staff withdrew, and end their grants where staff said so."""
    return withdrawals.finish_withdrawals()


@shared_task
def chain_reads() -> int:
    """Take the reads since last time into the audit chains."""
    return chain_pending_reads(most_seconds=_AT_ONCE)


@shared_task
def write_pending_audit() -> int:
    """Write the audit entries that had to wait, and alarm where they have waited for long."""
    return write_pending_entries(most_seconds=_AT_ONCE)


@shared_task
def write_late_entries() -> int:
    """Write down ends of which not even a waiting entry could be kept when they took place, and which are marked so."""
    return late_entries.write_marked()


@shared_task
def tidy() -> int:
    """Delete idempotency keys, old webhook secrets, vault wrappers and sessions that are over.

    Write down ends that are in no audit chain and have no mark, either.
    """
    # first: where deleting fails, no entry has to wait for it
    return late_entries.write_missing() + forget_what_is_over()


@shared_task
def forget_records() -> int:
    """Delete finished deliveries, discoveries, finds, reads and notices that were kept long enough."""
    return forget_old_records()


@shared_task
def deliver_webhooks() -> int:
    return deliver_due(most_seconds=_AT_ONCE)


@shared_task
def fetch_published_keys() -> int:
    """Fetch the connector keys that apps publish, for requests that wait.

    Without a free place nothing is fetched: the runs under way, or the next one of the timer, find what is due.
    """
    if not _fetches.acquire(blocking=False):
        return 0
    try:
        return published_keys.fetch_due()
    finally:
        _fetches.release()


@shared_task
def sequence_log() -> int:
    """Take new entries into the log and sign where it stands, where this process holds the log's keys."""
    return sequencing.sequence_and_sign() if sequencing.signs_here() else 0


@shared_task
def ask_log_witnesses() -> int:
    """Ask the log's witnesses to cosign its newest checkpoint, where this process holds the log's keys."""
    return cosigning.request_cosignatures() if sequencing.signs_here() else 0
