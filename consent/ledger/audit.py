"""The audit chain: one per person and one per app.

`entry_hash = SHA-256(RFC 8785 of {v: 2, chain, sequence, prev_hash, kind, actor, at, facts_hash})` and `facts_hash =
SHA-256(32 random bytes || RFC 8785 of facts)`, base64url without padding. `chain` is a random name; the actions here
take a chain by its subject, whom it is about. `actor` is a role: who it was stands in the facts, which erasure takes
away.
An entry is appended in the transaction of what it tells; where it cannot be written, nothing else happens either. The
exception is what protects a person (consent/requests/record.py): it commits in any case, and its entry waits in
`audit_pending`, which the next append to that chain writes first.
Locks are taken in one order everywhere: requests and grants, each by key; what the person keeps; people's heads, then
apps' heads, each by name; notice counters. Whoever appends for several people takes their heads first (`lock_heads`).
Rows of `audit_pending` are added under the lock of their request or grant and taken away under their chain's head.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from common.clock import database_now, rfc3339
from common.sql.inserts import insert_rows
from consent.errors import AuditUnavailable
from consent.event_types import EventType
from consent.ledger import receipts
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import (
    AuditChain,
    AuditEntry,
    AuditFacts,
    AuditHead,
    AuditPending,
    LogQueue,
    Receipt,
    new_chain_id,
)

GENESIS = ""  # the prev_hash of a chain's first entry
VERSION = 2  # `v` of what an entry's hash is over
DEPLOYMENT = "deployment"  # the subject of the chain that tells of the deployment itself
_PERSON = "person:"
_ENTRY = ("chain", "sequence", "prev_hash", "entry_hash", "kind", "actor", "at", "facts_hash")


@dataclass(frozen=True)
class Link:
    """Where an entry landed."""

    chain: str
    sequence: int
    entry_hash: str

    def as_claims(self) -> dict[str, Any]:
        return {"chain": self.chain, "sequence": self.sequence, "entry_hash": self.entry_hash}


def person_chain(user_id: str) -> str:
    return f"{_PERSON}{user_id}"


def app_chain(app_id: str) -> str:
    return f"app:{app_id}"


def chain_id(subject: str) -> str | None:
    """The random name of this subject's chain, if it has one."""
    return AuditChain.objects.filter(subject=subject).values_list("chain", flat=True).first()


def facts_hash(facts: dict[str, Any], salt: bytes) -> str:
    """The hash by which an entry holds its facts; the salt keeps them from being guessed once they are erased."""
    return sha256_canonical(facts, salt)


def entry_hash(
    *, chain: str, sequence: int, prev_hash: str, kind: str, actor: str, at: datetime, facts_hash: str
) -> str:
    """The hash that the next entry carries on."""
    links = {"chain": chain, "sequence": sequence, "prev_hash": prev_hash, "kind": kind, "actor": actor}
    return sha256_canonical({"v": VERSION, **links, "at": rfc3339(at), "facts_hash": facts_hash})


@contextmanager
def must_be_written() -> Iterator[None]:
    """Around what has to be kept for something to have happened: raises `AuditUnavailable` where it is refused.

    A database that is away is another refusal, the same for every address (config/error_answers.py).
    """
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError as error:
        raise AuditUnavailable(
            "What happened cannot be written down, so nothing has changed.", headers={"Retry-After": "5"}
        ) from error


def append(*, chain: str, kind: str, actor: str, at: datetime, facts: dict[str, Any]) -> Link:
    """Append one entry. Must run inside the transaction of what it tells; raises `AuditUnavailable`.

    What waits for this chain is written first, so that its order is that in which things took place.
    """
    with must_be_written():
        head = _locked_head(chain)
        last = _write_pending(head) if head.has_pending else head.link
        new = _following(last, subject=chain, kind=kind, actor=actor, at=at, facts=facts)
        _save([new])
        link = _link(new.entry)
        _move_head(link)
    return link


@dataclass(frozen=True)
class NewEntry:
    """What an entry is to tell, and in whose chain: the arguments of `append`."""

    chain: str
    kind: str
    actor: str
    at: datetime
    facts: dict[str, Any]


def append_all(entries: Sequence[NewEntry]) -> list[Link]:
    """Append these entries, each chain's in the order given; returns where each landed, in the order given.

    The same as `append` for one after the other, and all their heads taken first in the one order; in some ten
    statements however many they are.
    """
    with must_be_written():
        heads = _locked_heads({each.chain for each in entries})
        newest = {name: _write_pending(head) if head.has_pending else head.link for name, head in heads.items()}
        new: list[_New] = []
        for each in entries:
            at, facts = each.at, each.facts
            last = newest[each.chain]
            new.append(_following(last, subject=each.chain, kind=each.kind, actor=each.actor, at=at, facts=facts))
            newest[each.chain] = _link(new[-1].entry)
        _save(new)
        _move_heads(newest.values())
    return [_link(each.entry) for each in new]


def name_chains(subjects: Iterable[str]) -> None:
    """Give those of these subjects a chain that have none, outside the transaction that appends to them.

    A name that is not committed yet is waited for as a lock is, but in no order with the heads.
    """
    wanted = _in_order(subjects)
    known = set(AuditChain.objects.filter(subject__in=wanted).values_list("subject", flat=True))
    missing = [subject for subject in wanted if subject not in known]
    AuditChain.objects.bulk_create([AuditChain(subject=name) for name in missing], ignore_conflicts=True)


def write_pending(chain: str, *, most: int) -> int:
    """Write up to `most` entries that wait for this chain, in a transaction of their own; returns how many."""
    with must_be_written():
        head = _locked_head(chain)
        link = _write_pending(head, most) if head.has_pending else head.link
        if link != head.link:
            _move_head(link)
    return link.sequence - head.link.sequence


def defer(
    *,
    chain: str,
    kind: str,
    actor: str,
    at: datetime,
    facts: dict[str, Any],
    request_pk: int | None = None,
    receipt: dict[str, Any] | None = None,
) -> None:
    """Keep an entry that cannot be appended now, with the claims of its receipt. Takes no head's lock."""
    AuditPending.objects.create(
        chain=chain,
        kind=kind,
        actor=actor,
        at=at.replace(microsecond=0),
        facts=facts,
        request_id=request_pk,
        receipt=receipt,
    )


def _write_pending(head: "_Head", most: int | None = None) -> Link:
    """Append what waits for this chain, oldest first, sign the receipts that wait with it, and forget it.

    The head is locked and not moved yet. The entry says when things took place, and when that was written.
    """
    now, last = database_now(), head.link
    deferred = list(AuditPending.objects.filter(chain=head.subject).order_by("pk")[:most])
    new: list[_New] = []
    signed: list[Receipt] = []
    for row in deferred:
        facts = {**row.facts, "written_at": rfc3339(now)}
        new.append(_following(last, subject=head.subject, kind=row.kind, actor=row.actor, at=row.at, facts=facts))
        last = _link(new[-1].entry)
        if row.receipt is not None and row.request_id is not None:
            claims = row.receipt
            signed.append(receipts.signed(claims=claims, request_pk=row.request_id, entry=last.as_claims(), at=now))
    _save(new)
    Receipt.objects.bulk_create(signed, batch_size=500)
    AuditPending.objects.filter(pk__in=[row.pk for row in deferred]).delete()
    return last


@dataclass(frozen=True)
class _New:
    """An entry and its facts, not saved yet."""

    entry: AuditEntry
    facts: AuditFacts

    def facts_of_saved(self) -> AuditFacts:
        """The facts, once the entry has its key."""
        self.facts.entry = self.entry
        return self.facts


def _save(new: list[_New]) -> None:
    """Write these entries and their facts, and queue them for the log; every entry there is comes by here."""
    rows = [{name: getattr(each.entry, name) for name in _ENTRY} for each in new]
    written = insert_rows(AuditEntry, rows, returning=("chain", "sequence", "id"))
    pks = {(chain, sequence): pk for chain, sequence, pk in written}
    for each in new:
        each.entry.pk = pks[each.entry.chain, each.entry.sequence]
    AuditFacts.objects.bulk_create([each.facts_of_saved() for each in new], batch_size=500)
    insert_rows(LogQueue, [{"entry_id": each.entry.pk} for each in new])


def _following(last: Link, *, subject: str, kind: str, actor: str, at: datetime, facts: dict[str, Any]) -> _New:
    salt = secrets.token_bytes(32)
    content: dict[str, Any] = {
        "chain": last.chain,
        "sequence": last.sequence + 1,
        "prev_hash": last.entry_hash,
        "kind": kind,
        "actor": actor,
        "at": at.replace(microsecond=0),  # what is hashed is what is kept
        "facts_hash": facts_hash(facts, salt),
    }
    entry = AuditEntry(**content, entry_hash=entry_hash(**content))
    return _New(entry, AuditFacts(entry=entry, salt=salt, facts=facts, about=_about(subject, kind, facts)))


def _about(subject: str, kind: str, facts: dict[str, Any]) -> str:
    """Whose erasure takes these facts away; what tells of an erasure names nobody, and stays."""
    if kind == EventType.ERASED:
        return ""
    return subject.removeprefix(_PERSON) if subject.startswith(_PERSON) else str(facts.get("user_id") or "")


def _link(entry: AuditEntry) -> Link:
    return Link(chain=entry.chain, sequence=entry.sequence, entry_hash=entry.entry_hash)


def _move_head(link: Link) -> None:
    AuditHead.objects.filter(chain=link.chain).update(sequence=link.sequence, entry_hash=link.entry_hash)


def _move_heads(links: Iterable[Link]) -> None:
    """The same for many; their rows are there, and locked."""
    AuditHead.objects.bulk_create(
        (AuditHead(chain=link.chain, sequence=link.sequence, entry_hash=link.entry_hash) for link in links),
        update_conflicts=True,
        unique_fields=["chain"],
        update_fields=["sequence", "entry_hash"],
    )


@dataclass(frozen=True)
class _Head:
    """Where a chain stands, whose it is, and whether entries wait for it."""

    subject: str
    link: Link
    has_pending: bool


# A row that somebody commits while this waits for the lock is not seen: its transaction overlaps with this one, so it
# may as well come after.
_LOCK_HEAD = """
INSERT INTO consent_audit_heads (chain, sequence, entry_hash)
SELECT c.chain, 0, '' FROM audit_chains c WHERE c.subject = %(subject)s
ON CONFLICT (chain) DO UPDATE SET chain = excluded.chain
RETURNING chain, sequence, entry_hash, EXISTS (SELECT 1 FROM audit_pending p WHERE p.chain = %(subject)s)
"""
# rows are inserted, and so locked, in the order of the list
_LOCK_HEADS = """
INSERT INTO consent_audit_heads (chain, sequence, entry_hash) VALUES {rows}
ON CONFLICT (chain) DO UPDATE SET chain = excluded.chain RETURNING chain, sequence, entry_hash
"""
_NAME_CHAIN = """
INSERT INTO audit_chains (chain, subject) VALUES (%(chain)s, %(subject)s) ON CONFLICT (subject) DO NOTHING
"""


def _locked_head(subject: str) -> _Head:
    """The chain's newest link, its row locked until commit; made where the chain is new."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_HEAD, {"subject": subject})
        found = cursor.fetchone()
        if found is None:
            cursor.execute(_NAME_CHAIN, {"chain": new_chain_id(), "subject": subject})
            cursor.execute(_LOCK_HEAD, {"subject": subject})
            found = cursor.fetchone()
    chain, sequence, digest, has_pending = found
    return _Head(subject, Link(chain=chain, sequence=int(sequence), entry_hash=str(digest)), bool(has_pending))


def lock_heads(chains: Iterable[str]) -> None:
    """Take these heads in the one order, before the first of several events is appended in one transaction."""
    for chain in _in_order(chains):
        _locked_head(chain)


def _in_order(chains: Iterable[str]) -> list[str]:
    return sorted(set(chains), key=lambda name: (not name.startswith(_PERSON), name))


def _locked_heads(subjects: Iterable[str]) -> dict[str, _Head]:
    """The same as `_locked_head` of each, in the one order."""
    wanted = _in_order(subjects)
    chain_of = dict(AuditChain.objects.filter(subject__in=wanted).values_list("subject", "chain"))
    if len(chain_of) < len(wanted):  # a new chain is named and locked when its turn comes
        return {subject: _locked_head(subject) for subject in wanted}
    with connection.cursor() as cursor:
        cursor.execute(
            _LOCK_HEADS.format(rows=", ".join(["(%s, 0, '')"] * len(wanted))), [chain_of[subject] for subject in wanted]
        )
        links = {row[0]: Link(chain=row[0], sequence=int(row[1]), entry_hash=str(row[2])) for row in cursor.fetchall()}
    deferred = set(AuditPending.objects.filter(chain__in=wanted).order_by().values_list("chain", flat=True).distinct())
    return {subject: _Head(subject, links[chain_of[subject]], subject in deferred) for subject in wanted}
