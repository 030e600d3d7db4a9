"""Whether the chains hold: every entry by its hash, and the facts that it was made over.

Facts that are gone are no fault where a later entry of the same chain says that they were erased.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from consent.event_types import EventType
from consent.ledger.audit import GENESIS, chain_id, entry_hash, facts_hash
from consent.ledger.models import AuditChain, AuditEntry, AuditHead

_HASHED = ("version", "chain", "sequence", "prev_hash", "kind", "actor", "at", "own_facts", "facts_hash")
_Ranges = list[tuple[int, int]]


@dataclass(frozen=True)
class Broken:
    """The first entry of a chain that does not hold, and why; the chain by whom it is about, where that is known."""

    chain: str
    sequence: int
    reason: str


def subjects() -> dict[str, str]:
    """{chain: whom it is about} of every chain that is still somebody's."""
    return dict(AuditChain.objects.values_list("chain", "subject"))


def verify(subject: str | None = None) -> Iterator[Broken]:
    """The first broken entry of every chain (or of one); nothing where all hold."""
    entries = AuditEntry.objects.order_by("chain", "sequence")
    heads = AuditHead.objects.order_by("chain")
    names = subjects()
    if subject is not None:
        names = {chain_id(subject) or "": subject}
        entries, heads = entries.filter(chain__in=names), heads.filter(chain__in=names)
    expected = {head.chain: (head.sequence, head.entry_hash) for head in heads}
    erased = erased_ranges()
    found: dict[str, tuple[int, str]] = {}
    rows = entries.values(*_HASHED, "entry_hash", "kept__salt", "kept__facts").iterator(chunk_size=2000)
    for chain, group in itertools.groupby(rows, key=lambda entry: entry["chain"]):
        last, broken = _verify_chain(names.get(chain, chain), group, erased.get(chain, []))
        found[chain] = last
        if broken is not None:
            yield broken
            expected.pop(chain, None)
    for chain, head in expected.items():
        if head != found.get(chain, (0, GENESIS)):
            sequence = found.get(chain, (0, GENESIS))[0] + 1
            yield Broken(names.get(chain, chain), sequence, "the chain ends before its head")
    for chain in found.keys() - {head.chain for head in heads}:
        yield Broken(names.get(chain, chain), 1, "the chain has no head")


def erased_ranges() -> dict[str, _Ranges]:
    """{chain: ranges of the entries whose facts were erased}, as `erased` entries behind them say."""
    ranges: dict[str, _Ranges] = {}
    told = AuditEntry.objects.filter(kind=EventType.ERASED).select_related("kept").order_by("chain", "sequence")
    for entry in told.iterator(chunk_size=2000):
        named = entry.facts.get("ranges", [])
        ranges.setdefault(entry.chain, []).extend((first, last) for first, last in named if last < entry.sequence)
    return ranges


def _verify_chain(name: str, entries: Iterator[Any], erased: _Ranges) -> tuple[tuple[int, str], Broken | None]:
    last: tuple[int, str] = (0, GENESIS)
    broken = None
    for entry in entries:
        if broken is not None:
            continue  # the group must be read to its end
        reason = _flaw(entry, *last, erased)
        if reason is None:
            last = (entry["sequence"], entry["entry_hash"])
        else:
            broken = Broken(name, last[0] + 1 if entry["sequence"] > last[0] + 1 else entry["sequence"], reason)
    return last, broken


def _flaw(entry: dict[str, Any], sequence: int, previous: str, erased: _Ranges) -> str | None:
    if entry["sequence"] != sequence + 1:
        return "an entry is missing before it"
    if entry["prev_hash"] != previous:
        return "it does not follow the entry before it"
    is_erased = any(first <= entry["sequence"] <= last for first, last in erased)
    if entry["version"] == 1 and entry["own_facts"] is None:
        # its hash was over the facts themselves: what follows it still holds it
        return None if is_erased else "its facts are missing"
    if entry_hash(**{name: entry[name] for name in _HASHED}) != entry["entry_hash"]:
        return "it is not what was written"
    return None if entry["version"] == 1 else _facts_flaw(entry, is_erased)


def _facts_flaw(entry: dict[str, Any], is_erased: bool) -> str | None:
    if entry["kept__salt"] is None:
        return None if is_erased else "its facts are missing"
    if facts_hash(entry["kept__facts"], bytes(entry["kept__salt"])) != entry["facts_hash"]:
        return "its facts are not what was written"
    return None
