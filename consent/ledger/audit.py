"""The audit chain: one per person and one per app.

`entry_hash = SHA-256(RFC 8785 of {chain, sequence, prev_hash, kind, actor, at, facts})`, base64url without padding.
An entry is appended in the transaction of what it tells; where it cannot be written, nothing else happens either. The
exception is what protects a person (consent/requests/record.py): it commits in any case, and its entry waits in
`audit_pending`, which the next append to that chain writes first.
Locks are taken in one order everywhere: requests and grants, each by key; what the person keeps; people's heads, then
apps' heads, each by name; notice counters. Whoever appends for several people takes their heads first (`lock_heads`).
Rows of `audit_pending` are added under the lock of their request or grant and taken away under their chain's head.
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from common.clock import database_now, rfc3339
from consent.errors import AuditUnavailable
from consent.ledger import receipts
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditEntry, AuditHead, AuditPending, Receipt

GENESIS = ""  # the prev_hash of a chain's first entry


@dataclass(frozen=True)
class Link:
    """Where an entry landed."""

    chain: str
    sequence: int
    entry_hash: str

    def as_claims(self) -> dict[str, Any]:
        """As a receipt names it."""
        return {"chain": self.chain, "sequence": self.sequence, "entry_hash": self.entry_hash}


def person_chain(user_id: str) -> str:
    return f"person:{user_id}"


def app_chain(app_id: str) -> str:
    return f"app:{app_id}"


def entry_hash(
    *, chain: str, sequence: int, prev_hash: str, kind: str, actor: str, at: datetime, facts: dict[str, Any]
) -> str:
    """The hash that the next entry carries on."""
    return sha256_canonical(
        {
            "chain": chain,
            "sequence": sequence,
            "prev_hash": prev_hash,
            "kind": kind,
            "actor": actor,
            "at": rfc3339(at),
            "facts": facts,
        }
    )


@contextmanager
def must_be_written() -> Iterator[None]:
    """Around what has to be kept for something to have happened: raises `AuditUnavailable` where it is refused.

    A database that is away is another refusal, the same for every address (config/api.py).
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
        last = _write_pending(head.link) if head.has_pending else head.link
        entry = _following(last, kind=kind, actor=actor, at=at, facts=facts)
        entry.save(force_insert=True)
        link = _link(entry)
        _move_head(link)
    return link


def write_pending(chain: str, *, most: int) -> int:
    """Write up to `most` entries that wait for this chain, in a transaction of their own; returns how many."""
    with must_be_written():
        head = _locked_head(chain)
        link = _write_pending(head.link, most) if head.has_pending else head.link
        if link != head.link:
            _move_head(link)
    return link.sequence - head.link.sequence


def hold(
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


def _write_pending(last: Link, most: int | None = None) -> Link:
    """Append what waits for this chain, oldest first, sign the receipts that wait with it, and forget it.

    The head is locked and not moved yet. The entry says when things took place, and when that was written.
    """
    now = database_now()
    held = list(AuditPending.objects.filter(chain=last.chain).order_by("pk")[:most])
    entries: list[AuditEntry] = []
    signed: list[Receipt] = []
    for row in held:
        facts = {**row.facts, "written_at": rfc3339(now)}
        entries.append(_following(last, kind=row.kind, actor=row.actor, at=row.at, facts=facts))
        last = _link(entries[-1])
        if row.receipt is not None and row.request_id is not None:
            claims = row.receipt
            signed.append(receipts.signed(claims=claims, request_pk=row.request_id, entry=last.as_claims(), at=now))
    AuditEntry.objects.bulk_create(entries, batch_size=500)
    Receipt.objects.bulk_create(signed, batch_size=500)
    AuditPending.objects.filter(pk__in=[row.pk for row in held]).delete()
    return last


def _following(last: Link, *, kind: str, actor: str, at: datetime, facts: dict[str, Any]) -> AuditEntry:
    """The entry after `last`, not saved yet."""
    content = {
        "chain": last.chain,
        "sequence": last.sequence + 1,
        "prev_hash": last.entry_hash,
        "kind": kind,
        "actor": actor,
        "at": at.replace(microsecond=0),  # what is hashed is what is kept
        "facts": facts,
    }
    return AuditEntry(**content, entry_hash=entry_hash(**content))  # type: ignore[arg-type]  # as named above


def _link(entry: AuditEntry) -> Link:
    return Link(chain=entry.chain, sequence=entry.sequence, entry_hash=entry.entry_hash)


def _move_head(link: Link) -> None:
    AuditHead.objects.filter(chain=link.chain).update(sequence=link.sequence, entry_hash=link.entry_hash)


@dataclass(frozen=True)
class _Head:
    """Where a chain stands, and whether entries wait for it."""

    link: Link
    has_pending: bool


# A row that somebody commits while this waits for the lock is not seen: its transaction overlaps with this one, so it
# may as well come after.
_LOCK_HEAD = """
INSERT INTO consent_audit_heads (chain, sequence, entry_hash) VALUES (%s, 0, '')
ON CONFLICT (chain) DO UPDATE SET chain = excluded.chain
RETURNING sequence, entry_hash, EXISTS (SELECT 1 FROM audit_pending p WHERE p.chain = consent_audit_heads.chain)
"""


def _locked_head(chain: str) -> _Head:
    """The chain's newest link, its row locked until commit; made where the chain is new."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_HEAD, [chain])
        sequence, digest, has_pending = cursor.fetchone()
    return _Head(Link(chain=chain, sequence=int(sequence), entry_hash=str(digest)), bool(has_pending))


def lock_heads(chains: Iterable[str]) -> None:
    """Take these heads in the one order, before the first of several events is appended in one transaction."""
    for chain in sorted(set(chains), key=lambda name: (not name.startswith(person_chain("")), name)):
        _locked_head(chain)


@dataclass(frozen=True)
class Broken:
    """The first entry of a chain that does not hold, and why."""

    chain: str
    sequence: int
    reason: str


def verify(chain: str | None = None) -> Iterator[Broken]:
    """The first broken entry of every chain (or of one); nothing where all hold."""
    entries = AuditEntry.objects.order_by("chain", "sequence").values()
    heads = AuditHead.objects.order_by("chain")
    if chain is not None:
        entries, heads = entries.filter(chain=chain), heads.filter(chain=chain)
    expected = {head.chain: (head.sequence, head.entry_hash) for head in heads}
    found: dict[str, tuple[int, str]] = {}
    for name, group in itertools.groupby(entries.iterator(chunk_size=2000), key=lambda entry: entry["chain"]):
        last, broken = _verify_chain(name, group)
        found[name] = last
        if broken is not None:
            yield broken
            expected.pop(name, None)
    for name, head in expected.items():
        if head != found.get(name, (0, GENESIS)):
            yield Broken(name, found.get(name, (0, GENESIS))[0] + 1, "the chain ends before its head")
    for name in found.keys() - {head.chain for head in heads}:
        yield Broken(name, 1, "the chain has no head")


def _verify_chain(name: str, entries: Iterator[Any]) -> tuple[tuple[int, str], Broken | None]:
    last: tuple[int, str] = (0, GENESIS)
    broken = None
    for entry in entries:
        if broken is not None:
            continue  # the group must be read to its end
        reason = _flaw(entry, *last)
        if reason is None:
            last = (entry["sequence"], entry["entry_hash"])
        else:
            broken = Broken(name, last[0] + 1 if entry["sequence"] > last[0] + 1 else entry["sequence"], reason)
    return last, broken


def _flaw(entry: dict[str, Any], sequence: int, previous: str) -> str | None:
    if entry["sequence"] != sequence + 1:
        return "an entry is missing before it"
    if entry["prev_hash"] != previous:
        return "it does not follow the entry before it"
    content = {name: entry[name] for name in ("chain", "sequence", "prev_hash", "kind", "actor", "at", "facts")}
    return None if entry_hash(**content) == entry["entry_hash"] else "it is not what was written"
