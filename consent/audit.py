"""The audit chain: one per person and one per app (crypto.md, Audit chain).

`entry_hash = SHA-256(RFC 8785 of {chain, sequence, prev_hash, kind, actor, at, facts})`, base64url without padding.
An entry is appended in the transaction of what it tells; where it cannot be written, nothing else happens either.
Locks are taken in one order everywhere: requests and grants, each by key; what the person keeps; people's heads, then
apps' heads, each by name; notice counters. Whoever appends for several people takes their heads first (`lock_heads`).
"""

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from accounts.database import rfc3339
from consent.digest import sha256_canonical
from consent.errors import AuditUnavailable
from consent.models import AuditEntry, AuditHead

GENESIS = ""  # the prev_hash of a chain's first entry


@dataclass(frozen=True)
class Link:
    """Where an entry landed."""

    chain: str
    sequence: int
    entry_hash: str


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
    """Append one entry. Must run inside the transaction of what it tells; raises `AuditUnavailable`."""
    at = at.replace(microsecond=0)  # what is hashed is what is kept
    with must_be_written():
        sequence, previous = _locked_head(chain)
        digest = entry_hash(
            chain=chain, sequence=sequence + 1, prev_hash=previous, kind=kind, actor=actor, at=at, facts=facts
        )
        AuditEntry.objects.create(
            chain=chain,
            sequence=sequence + 1,
            prev_hash=previous,
            entry_hash=digest,
            kind=kind,
            actor=actor,
            at=at,
            facts=facts,
        )
        AuditHead.objects.filter(chain=chain).update(sequence=sequence + 1, entry_hash=digest)
    return Link(chain=chain, sequence=sequence + 1, entry_hash=digest)


def _locked_head(chain: str) -> tuple[int, str]:
    """The chain's newest link, its row locked until commit; made where the chain is new."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO consent_audit_heads (chain, sequence, entry_hash) VALUES (%s, 0, '') "
            "ON CONFLICT (chain) DO UPDATE SET chain = excluded.chain RETURNING sequence, entry_hash",
            [chain],
        )
        sequence, digest = cursor.fetchone()
    return int(sequence), str(digest)


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
    told = {name: entry[name] for name in ("chain", "sequence", "prev_hash", "kind", "actor", "at", "facts")}
    return None if entry_hash(**told) == entry["entry_hash"] else "it is not what was written"
