"""Writing the audit entries that had to wait, and saying loudly how long they have waited."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import Min

from common.clock import database_now, rfc3339
from consent.errors import AuditUnavailable
from consent.ledger import audit
from consent.ledger.models import AuditPending
from consent.ledger.verifying import Broken

_log = logging.getLogger(__name__)
ALARM_AFTER = timedelta(minutes=10)
MOST_AT_ONCE = 500  # entries a transaction, so that nobody waits long for the chain's head


# --- What waits in audit_pending --------------------------------------------------------------------------------------
def write_pending_entries() -> int:
    """Write every entry that waits; returns how many. Safe to run twice at once, and to be killed at any moment.

    One chain to a transaction, so that one that cannot be written holds up no other.
    """
    written = 0
    for chain in list(AuditPending.objects.order_by("chain").values_list("chain", flat=True).distinct()):
        try:
            written += _write_all(chain)
        except AuditUnavailable as refused:
            _log.error("the entries that wait for a chain cannot be written yet: %s", refused.__cause__)
    if written:
        _log.warning("%d audit entries that had waited were written", written)
    _alarm()
    return written


def _write_all(chain: str) -> int:
    written = 0
    while True:
        with transaction.atomic():
            count = audit.write_pending(chain, most=MOST_AT_ONCE)
        written += count
        if count < MOST_AT_ONCE:
            return written


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
