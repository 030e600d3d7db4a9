"""Entries of an audit chain, computed again: what their hashes are over, and whether one follows the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.errors import Refused, shown

ENDS = frozenset({"revoked", "released", "terminated", "exhausted", "superseded", "expired"})
"""What ends a grant for good: one that is live after it was brought back by somebody."""
_ERASED = "erased"
_VERSION = 2
_LINKS = ("chain", "sequence", "prev_hash", "kind", "actor", "at")
_OWN = ("chain", "sequence", "entry_hash", "prev_hash", "kind", "at")
_TEXTS = ("chain", "prev_hash", "entry_hash", "kind", "actor", "at", "facts_hash", "salt")


@dataclass(frozen=True)
class Head:
    """Where a chain stands; `chain` is "" before its first entry is known."""

    chain: str
    sequence: int
    entry_hash: str


@dataclass(frozen=True)
class Entry:
    """An entry whose hash was computed again. `facts` is None where they were erased."""

    chain: str
    sequence: int
    entry_hash: str
    prev_hash: str
    kind: str
    at: str
    facts: Mapping[str, Any] | None

    @property
    def head(self) -> Head:
        """Where the chain stands with it."""
        return Head(self.chain, self.sequence, self.entry_hash)

    @property
    def leaf(self) -> bytes:
        """What the log has of it."""
        return decode_base64url(self.entry_hash, "entry_hash")


def read_entry(raw: object) -> Entry:
    """An entry as the service tells it; Refused where its hash, or that of its facts, is another."""
    if not isinstance(raw, Mapping):
        raise Refused("the entry is no JSON object", member="entry")
    for name in _TEXTS:
        if not isinstance(raw.get(name), str):
            raise Refused(f"the entry has no {name}", member=name)
    facts = raw.get("facts")
    if raw.get("v") != _VERSION or type(raw.get("sequence")) is not int or not isinstance(facts, Mapping):
        raise Refused("the entry is of no known form", member="entry")
    hashed = {"v": _VERSION, "facts_hash": raw["facts_hash"], **{name: raw[name] for name in _LINKS}}
    erased = not raw["salt"] and not facts
    if _digest(hashed) != raw["entry_hash"]:
        raise Refused("the entry is not what was written: its hash is another", member="entry_hash")
    if not erased and _digest(facts, decode_base64url(raw["salt"], "salt")) != raw["facts_hash"]:
        raise Refused("the entry's facts are not what was written", member="facts")
    kept = None if erased else dict(facts)
    return Entry(**{name: raw[name] for name in _OWN}, facts=kept)


def digest_of_receipt(claims: Mapping[str, Any]) -> str:
    """The hash by which an entry holds its receipt: of the claims without `audit`."""
    return _digest({name: value for name, value in claims.items() if name != "audit"})


def _digest(value: Mapping[str, Any], salt: bytes = b"") -> str:
    try:
        canonical = rfc8785.dumps(dict(value))
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise Refused("the entry has no canonical form", member="entry") from error
    return encode_base64url(hashlib.sha256(salt + canonical).digest())


def read_chain(raw: Iterable[object]) -> list[Entry]:
    """All entries of one chain, from the first; Refused at the first that does not follow, or whose facts are gone."""
    entries: list[Entry] = []
    for each in raw:
        entries.append(next_entry(each, entries[-1].head if entries else Head("", 0, "")))
    erased = [span for entry in entries if entry.kind == _ERASED for span in _erased_by(entry)]
    for number, entry in enumerate(entries, start=1):
        if entry.facts is None and not any(first <= number <= last for first, last in erased):
            raise Refused(
                f"the facts of entry {number} are gone, and no entry says that they were erased", member="facts"
            )
    return entries


def _erased_by(entry: Entry) -> list[list[int]]:
    """The ranges before it that an `erased` entry names; what somebody made up names none."""
    ranges = (entry.facts or {}).get("ranges")
    pairs = [each for each in ranges if isinstance(each, list)] if isinstance(ranges, list) else []
    return [each for each in pairs if list(map(type, each)) == [int, int] and each[1] < entry.sequence]


def next_entry(raw: object, before: Head) -> Entry:
    """The entry after `before`; Refused where it does not follow."""
    number = before.sequence + 1
    try:
        entry = read_entry(raw)
    except Refused as refused:
        raise Refused(f"entry {number}: {refused.reason}", member=refused.member) from refused
    if before.chain and entry.chain != before.chain:
        raise Refused(f"entry {number} is of another chain, {shown(entry.chain)}", member="chain")
    if entry.sequence != number:
        raise Refused(f"an entry is missing before number {entry.sequence}", member="sequence")
    if entry.prev_hash != before.entry_hash:
        raise Refused(f"entry {number} does not follow the one before it", member="prev_hash")
    return entry
