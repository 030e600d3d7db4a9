"""Writing the audit entries that had to wait, and saying loudly how long they have waited."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import Min

from common.batches import is_database_away, until_done
from common.clock import database_now, rfc3339
from consent.ledger import audit
from consent.ledger.models import AuditPending
from consent.ledger.verifying import Broken

_log = logging.getLogger(__name__)
ALARM_AFTER = timedelta(minutes=10)
MOST_AT_ONCE = 500  # entries a transaction, so that nobody waits long for the chain's head


# --- What waits in audit_pending --------------------------------------------------------------------------------------
def is_due() -> bool:
    """Whether an entry waits."""
    return AuditPending.objects.exists()


def write_pending_entries(*, most_seconds: float | None = None) -> int:
    """Write every entry that waits; returns how many. Safe to run twice at once, and to be killed at any moment.

    One chain to a transaction, so that one that cannot be written holds up no other. With `most_seconds`, what is left
    after them waits for the next run.
    """
    chains = AuditPending.objects.order_by("chain").values_list("chain", flat=True).distinct()
    run = _Run(iter(list(chains)))
    written = until_done(run.batch, most_seconds=most_seconds)
    if written:
        _log.warning("%d audit entries that had waited were written", written)
    _alarm()
    return written


class _Run:
    """One run through the chains for which entries wait."""

    def __init__(self, chains: Iterator[str]) -> None:
        self.chains = chains
        self.chain = next(chains, None)

    def batch(self) -> int | None:
        """How many entries were written to one chain; None where no chain is left."""
        if self.chain is None:
            return None
        count = 0
        try:
            with transaction.atomic():
                count = audit.write_pending(self.chain, most=MOST_AT_ONCE)
        except Exception as refused:
            if is_database_away(refused):
                raise
            _log.error("the entries that wait for a chain cannot be written yet: %s", refused.__cause__ or refused)
        if count < MOST_AT_ONCE:
            self.chain = next(self.chains, None)
        return count


def _alarm() -> None:
    oldest = AuditPending.objects.aggregate(oldest=Min("at"))["oldest"]
    if oldest is not None and oldest <= database_now() - ALARM_AFTER:
        count = AuditPending.objects.count()
        _log.critical("%d audit entries wait to be written, the oldest since %s", count, rfc3339(oldest))


def verify_pending(chain: str | None = None) -> Iterator[Broken]:
    """The chains for which an entry has waited longer than it should."""
    late = AuditPending.objects.filter(at__lte=database_now() - ALARM_AFTER)
    late = late if chain is None else late.filter(chain=chain)
    for row in late.order_by().values("chain").annotate(oldest=Min("at")).order_by("chain"):
        yield Broken(row["chain"], 0, f"an entry waits to be written since {rfc3339(row['oldest'])}")
