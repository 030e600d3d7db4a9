"""Reads enter the audit chains in batches: one entry holds the hash of many reads.

One head per app would otherwise bound the reads of that app.
"""

import secrets
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from django.db import transaction

from common.clock import database_now, rfc3339
from common.sql.statements import lock_for_transaction
from consent.event_types import EventType
from consent.exports.models import Read
from consent.ledger import audit
from consent.ledger.canonical import sha256_canonical
from consent.states import Actor

_BATCH = 2000  # reads a transaction
_KIND = EventType.READS.value
# Of each read, what its batch's hash is over.
COLUMNS = ("pk", "grant__grant_id", "export__export_id", "token__prefix", "address_prefix", "at")


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
        .values(*COLUMNS, "grant__user__public_id", "grant__app__app_id")
    )
    now = database_now()
    # people's heads first, then apps': the one order of locks
    for chain_of, member in ((audit.person_chain, "grant__user__public_id"), (audit.app_chain, "grant__app__app_id")):
        for name, group in groupby(
            sorted(waiting, key=lambda row: (row[member], row["pk"])), key=lambda row: row[member]
        ):
            reads = list(group)
            facts = _facts_of(reads)
            audit.append(
                chain=chain_of(name),
                kind=_KIND,
                actor=Actor.APP.value,
                at=now,
                facts=facts,
            )
            if chain_of is audit.person_chain:
                Read.objects.filter(pk__in=[row["pk"] for row in reads]).update(batch=facts["batch"])
    return len(waiting)


def _facts_of(reads: list[dict[str, Any]]) -> dict[str, Any]:
    """What the entry of a batch says. Once they are erased, nobody can guess what was read from where."""
    salt = secrets.token_urlsafe(32)
    batch = batch_hash(reads, salt)
    return {"count": len(reads), "first": reads[0]["pk"], "last": reads[-1]["pk"], "batch": batch, "salt": salt}


def batch_hash(reads: list[dict[str, Any]], salt: str | None) -> str:
    """The hash of a batch: over what was read, with which token, from where and when, in the order of their keys.

    Entries from before have no salt; theirs is over what was read and when.
    """
    if salt is None:
        return sha256_canonical(
            [[row["pk"], row["grant__grant_id"], row["export__export_id"], rfc3339(row["at"])] for row in reads]
        )
    return sha256_canonical([salt, [[*_what_and_where(row), _to_the_microsecond(row["at"])] for row in reads]])


def _what_and_where(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS if name != "at"]


def _to_the_microsecond(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def reads_hold(facts: dict[str, Any]) -> bool:
    """Whether the reads of a person's entry are there as it says; facts that somebody made up hold nothing.

    A person's entry holds the hash that its reads carry; an app's entry is made over other cuts of the same reads.
    """
    first, last, batch, salt = (facts.get(name) for name in ("first", "last", "batch", "salt"))
    if not isinstance(first, int) or not isinstance(last, int) or not isinstance(salt, str | None):
        return False
    within = Read.objects.filter(pk__range=(first, last), batch=str(batch)).order_by("pk")
    reads: list[dict[str, Any]] = list(within.values(*COLUMNS))
    return len(reads) == facts.get("count") and batch_hash(reads, salt) == batch
