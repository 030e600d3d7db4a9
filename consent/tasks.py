"""What the worker does on a timer (config/schedule.py). Nothing depends on its punctuality: readers go by the clock."""

import threading

from celery import shared_task

from consent.connections import actions as connections
from consent.decisions import expiry, withdrawals
from consent.exports.read_batches import chain_pending_reads
from consent.ledger.pending import write_pending_entries
from consent.log import cosigning, sequencing
from consent.notices.webhooks import deliver_due
from consent.requests import published_keys

# sites that hang hold no more of this process's threads than these; the rest of its work goes on beside them
_fetches = threading.BoundedSemaphore(2)
_AT_ONCE = 20.0  # seconds after which a long run leaves the rest to the next, so that other tasks get their turn


def write_down_expiry() -> int:
    """Write down requests, grants and connections that the clock has ended."""
    return expiry.write_down_expiry() + connections.end_overdue()


@shared_task
def finish_withdrawals() -> int:
    """Cancel what waits on scopes that staff withdrew, and end their grants where staff said so."""
    return withdrawals.finish_withdrawals()


def chain_reads() -> int:
    """Take the reads since last time into the audit chains."""
    return chain_pending_reads(most_seconds=_AT_ONCE)


def write_pending_audit() -> int:
    """Write the audit entries that had to wait, and alarm where they have waited for long."""
    return write_pending_entries(most_seconds=_AT_ONCE)


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


def sequence_log() -> int:
    """Take new entries into the log and sign where it stands, where this process holds the log's keys."""
    return sequencing.sequence_and_sign() if sequencing.signs_here() else 0


def ask_log_witnesses() -> int:
    """Ask the log's witnesses to cosign its newest checkpoint, where this process holds the log's keys."""
    return cosigning.request_cosignatures() if sequencing.signs_here() else 0
