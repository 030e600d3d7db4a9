"""Reads enter the audit chains in batches: one entry holds the hash of many reads.

One head per app would otherwise bound the reads of that app.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.db import transaction

from common.clock import database_now, rfc3339
from common.sql.statements import lock_for_transaction
from consent.event_types import EventType
from consent.exports.models import Read
from consent.ledger import audit
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditChain, AuditEntry
from consent.ledger.verifying import Broken
from consent.states import Actor

_BATCH = 2000  # reads a transaction
_KIND = EventType.READS.value
_COLUMNS = ("pk", "grant__grant_id", "export__export_id", "at")  # of each read, what its batch's hash is over


def chain_waiting_reads() -> int:
    """Chain every read that no entry holds yet; returns how many. Safe to run twice at once."""
    chained = 0
    while True:
        with transaction.atomic():
            lock_for_transaction("chain-reads")
            count = _chain_some()
        chained += count
        if count < _BATCH:
            return chained


def _chain_some() -> int:
    waiting: list[dict[str, Any]] = list(
        Read.objects.filter(batch="")
        .order_by("pk")[:_BATCH]
        .values(*_COLUMNS, "grant__user__public_id", "grant__app__app_id")
    )
    now = database_now()
    # people's heads first, then apps': the one order of locks
    for chain_of, member in ((audit.person_chain, "grant__user__public_id"), (audit.app_chain, "grant__app__app_id")):
        for name, group in groupby(
            sorted(waiting, key=lambda row: (row[member], row["pk"])), key=lambda row: row[member]
        ):
            reads = list(group)
            digest = batch_hash(reads)
            audit.append(
                chain=chain_of(name),
                kind=_KIND,
                actor=Actor.APP.value,
                at=now,
                facts={"count": len(reads), "first": reads[0]["pk"], "last": reads[-1]["pk"], "batch": digest},
            )
            if chain_of is audit.person_chain:
                Read.objects.filter(pk__in=[row["pk"] for row in reads]).update(batch=digest)
    return len(waiting)


def batch_hash(reads: list[dict[str, Any]]) -> str:
    """The hash of a batch: over each read's identity and time, in the order of their keys."""
    return sha256_canonical(
        [[row["pk"], row["grant__grant_id"], row["export__export_id"], rfc3339(row["at"])] for row in reads]
    )


def verify_reads(chain: str | None = None) -> Iterator[Broken]:
    """The entries whose reads are no longer those that they were made over, and reads that no entry holds.

    A person's entry holds the hash that its reads carry; an app's entry is made over other cuts of the same reads.
    """
    people = dict(AuditChain.objects.filter(subject__startswith=audit.person_chain("")).values_list("chain", "subject"))
    entries = AuditEntry.objects.filter(kind=_KIND).select_related("kept").order_by("pk")
    held: set[str] = set()
    for entry in entries.of(chain) if chain is not None else entries.iterator(chunk_size=2000):
        if entry.chain not in people:
            continue
        held.add(str(entry.facts.get("batch")))
        if not _holds(entry.facts):
            yield Broken(people[entry.chain], entry.sequence, "the reads that it holds are not as they were")
    if chain is None:
        of_people = Read.objects.exclude(batch="").filter(grant__user__erased_at=None).order_by("pk")
        chained = of_people.values_list("pk", "batch", "grant__user__public_id")
        for pk, batch, user_id in chained.iterator(chunk_size=2000):
            if batch not in held:
                yield Broken(audit.person_chain(user_id), 0, f"no entry holds the read {pk}")
                return


def _holds(facts: dict[str, Any]) -> bool:
    """Whether an entry's reads are there as it says; facts that somebody made up hold nothing."""
    first, last, batch = facts.get("first"), facts.get("last"), facts.get("batch")
    if not isinstance(first, int) or not isinstance(last, int):
        return False
    within = Read.objects.filter(pk__range=(first, last), batch=str(batch)).order_by("pk")
    reads: list[dict[str, Any]] = list(within.values(*_COLUMNS))
    return len(reads) == facts.get("count") and batch_hash(reads) == batch
