"""Deletes reads older than READS_KEPT_DAYS, audit entry by audit entry, the oldest first (decision 0020).

All reads of an entry go together, and the mark moves in the same transaction, so that verification knows which entries
may have lost theirs. The entry stays, with how many there were and the hash over them, and so does the number of reads
of each grant.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Self

from django.conf import settings
from django.db import transaction

from common.batches import until_done
from common.clock import database_now
from common.sql.statements import lock_for_transaction
from consent.event_types import EventType
from consent.exports.models import ForgottenReads, Read
from consent.ledger.models import AuditEntry
from consent.rules import SHORTEST_DAYS

_ONE = 1  # the key of the one mark
_ENTRIES = 1000  # looked at in a transaction
_READS = 5000  # deleted in a transaction, and those of one more entry


def forget_reads(*, most_seconds: float) -> int:
    """Delete reads whose entry is older than READS_KEPT_DAYS, in batches; returns how many went.

    What is left after `most_seconds` stays for the next run. Reads that no entry holds stay.
    """
    limit = database_now() - timedelta(days=settings.READS_KEPT_DAYS)

    def forget_next() -> int | None:
        with transaction.atomic():
            lock_for_transaction("forget-reads")
            following = AuditEntry.objects.filter(pk__gt=_mark()).order_by("pk")
            oldest = following.values_list("at", flat=True).first()
            if oldest is None or oldest >= limit:
                return None
            some = following.select_related("kept")[:_ENTRIES]
            last, batches = _next_entries(list(takewhile(lambda entry: entry.at < limit, some)))
            went = _delete(batches)
            ForgottenReads.objects.update_or_create(pk=_ONE, defaults={"entry": last})
            return went

    return until_done(forget_next, most_seconds=most_seconds)


@dataclass(frozen=True)
class Forgotten:
    """Which audit entries have lost their reads by rule: those up to a key that are older than any setting allows."""

    up_to: int
    before: datetime

    @classmethod
    def by_now(cls) -> Self:
        """As the mark stands."""
        return cls(_mark(), database_now() - timedelta(days=SHORTEST_DAYS))

    def covers(self, entry_pk: int, at: datetime) -> bool:
        """Whether this entry is one of them."""
        return entry_pk <= self.up_to and at < self.before


def _mark() -> int:
    return ForgottenReads.objects.values_list("entry", flat=True).first() or 0


def _next_entries(entries: list[AuditEntry]) -> tuple[int, list[dict[str, Any]]]:
    """How far to go now: the key of the last entry, and the facts of those of reads, until these are `_READS`."""
    batches: list[dict[str, Any]] = []
    last = count = 0
    for entry in entries:
        last = entry.pk
        if entry.kind == EventType.READS and entry.facts:  # of an erased person's nothing says which they were
            batches.append(entry.facts)
            count += entry.facts["count"]
            if count >= _READS:
                break
    return last, batches


def _delete(batches: list[dict[str, Any]]) -> int:
    """Delete the reads of these entries; returns how many went.

    Entries of app chains match no row (`Read.batch` has the person entry's hash), so passing them is harmless.
    """
    if not batches:
        return 0
    within = (min(facts["first"] for facts in batches), max(facts["last"] for facts in batches))
    went, _ = Read.objects.filter(pk__range=within, batch__in={facts["batch"] for facts in batches}).delete()
    return went
