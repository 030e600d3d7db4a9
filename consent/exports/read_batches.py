"""Reads enter the audit chains in batches: one entry holds the hash of many reads.

One head per app would otherwise bound the reads of that app.
"""

import logging
import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from common.batches import is_database_away, one_by_one, until_done
from common.clock import database_now
from common.sql.inserts import update_texts
from common.sql.statements import lock_for_transaction
from consent.event_types import EventType
from consent.exports.models import Read
from consent.ledger import audit
from consent.ledger.canonical import sha256_canonical
from consent.states import Actor

_Unchained = dict[str, Any]  # a row of `_unchained`
_log = logging.getLogger(__name__)
_BATCH_SIZE = 2000  # reads a transaction
_LOCK = "chain-reads"
_ALONE = 20.0  # seconds at most for the people of a batch that failed, one by one
_MOST_FAILURES = 20  # people one after the other, before it is taken for the audit that is away
_KIND = EventType.READS.value
# Of each read, what its batch's hash is over.
COLUMNS = ("pk", "grant__grant_id", "export__export_id", "token__prefix", "address_prefix", "at")


def is_due() -> bool:
    """Whether there are reads that no entry holds yet."""
    return Read.objects.filter(batch="").exists()


def chain_pending_reads(*, most_seconds: float | None = None) -> int:
    """Chain every read that no entry holds yet; returns how many. Safe to run twice at once.

    With `most_seconds`, what is left after them waits for the next run. The reads of a person whose chain or whose
    app's chain cannot be written wait as well, and no other. Raises `AuditUnavailable` where none can.
    """
    run = _Run()
    chained = until_done(run.chain_next, most_seconds=most_seconds)
    if run.failure is not None and not chained:
        raise run.failure
    return chained


def chain_reads_of(user_pk: int) -> None:
    """Chain every read of this person that no entry holds yet; raises `AuditUnavailable`."""
    while _chain_of_person(user_pk):
        pass


class _Run:
    """One run through the reads that wait, each looked at once."""

    def __init__(self) -> None:
        self.after = 0  # the key of the newest read that was looked at
        self.is_done = False
        self.failure: Exception | None = None  # the newest of a batch

    def chain_next(self) -> int | None:
        """How many reads were chained; None where nothing is left."""
        if self.is_done:
            return None
        unchained: list[_Unchained] = []
        try:
            with transaction.atomic():
                lock_for_transaction(_LOCK)
                unchained = _unchained(pk__gt=self.after)
                if not unchained:
                    return None
                _chain(unchained)
            done = len(unchained)
        except Exception as error:
            if not unchained or is_database_away(error):
                raise
            self.failure = error
            _log.exception("%d reads could not be chained together", len(unchained))
            people = dict.fromkeys(row["grant__user"] for row in unchained)
            within = {"pk__gt": self.after, "pk__lte": unchained[-1]["pk"]}
            done = one_by_one(
                people,
                lambda person: _chain_of_person(person, **within),
                what="the people with reads to chain",
                most_seconds=_ALONE,
                most_failures=_MOST_FAILURES,
            )
        self.is_done = len(unchained) < _BATCH_SIZE
        self.after = unchained[-1]["pk"]
        return done


@transaction.atomic
def _chain_of_person(person_pk: int, **where: int) -> int:
    lock_for_transaction(_LOCK)
    unchained = _unchained(grant__user=person_pk, **where)
    _chain(unchained)
    return len(unchained)


def _unchained(**where: int) -> list[_Unchained]:
    """Up to a batch of the reads that no entry holds, the oldest first."""
    unchained = Read.objects.filter(batch="", **where).order_by("pk")[:_BATCH_SIZE]
    return list(unchained.values(*COLUMNS, "grant__user", "grant__user__public_id", "grant__app__app_id"))


def _chain(unchained: Sequence[_Unchained]) -> None:
    """An entry in the chain of each person and each app that these reads are of. The caller holds `_LOCK`."""
    if not unchained:
        return
    now = database_now()
    new: list[audit.NewEntry] = []
    digests: dict[int, str] = {}  # by the key of a read, that of its person's entry
    for chain_of, member in ((audit.person_chain, "grant__user__public_id"), (audit.app_chain, "grant__app__app_id")):
        of_one: dict[str, list[_Unchained]] = defaultdict(list)
        for row in unchained:
            of_one[row[member]].append(row)
        for name, reads in of_one.items():
            facts = _facts_of(reads)
            new.append(audit.NewEntry(chain=chain_of(name), kind=_KIND, actor=Actor.APP.value, at=now, facts=facts))
            if chain_of is audit.person_chain:
                digests |= dict.fromkeys((row["pk"] for row in reads), facts["batch"])
    audit.append_all(new)
    update_texts(Read, "batch", digests)


def _facts_of(reads: list[dict[str, Any]]) -> dict[str, Any]:
    """What the entry of a batch says. Once they are erased, nobody can guess what was read from where."""
    salt = secrets.token_urlsafe(32)
    digest = batch_hash(reads, salt)
    return {"count": len(reads), "first": reads[0]["pk"], "last": reads[-1]["pk"], "batch": digest, "salt": salt}


def batch_hash(reads: list[dict[str, Any]], salt: str) -> str:
    """The hash of a batch: over what was read, with which token, from where and when, in the order of their keys."""
    return sha256_canonical([salt, [[*_what_and_where(row), _to_the_microsecond(row["at"])] for row in reads]])


def _what_and_where(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS if name != "at"]


def _to_the_microsecond(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def reads_match_chain(facts: dict[str, Any]) -> bool:
    """Whether the reads of a person's entry are there as it says; facts that somebody made up hold nothing.

    A person's entry holds the hash that its reads carry; an app's entry is made over other cuts of the same reads.
    """
    first, last, digest, salt = (facts.get(name) for name in ("first", "last", "batch", "salt"))
    if not isinstance(first, int) or not isinstance(last, int) or not isinstance(salt, str):
        return False
    within = Read.objects.filter(pk__range=(first, last), batch=str(digest)).order_by("pk")
    reads: list[dict[str, Any]] = list(within.values(*COLUMNS))
    return len(reads) == facts.get("count") and batch_hash(reads, salt) == digest
