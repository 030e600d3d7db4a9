"""Whether the chains hold: every entry by its hash, and the facts that it was made over.

Entries are read in the order of their chains, a page at a time. What has to be remembered between two pages is one
`ChainState`, so the memory is the same for ten entries and for ten million, and whoever keeps that can go on from
there. Facts that are gone are no fault where a later entry of the same chain says that
they were erased.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max

from consent.event_types import EventType
from consent.ledger.audit import GENESIS, chain_id, entry_hash, facts_hash
from consent.ledger.models import AuditChain, AuditEntry, AuditHead

PAGE = 2000  # entries
_HASHED = ("chain", "sequence", "prev_hash", "kind", "actor", "at", "facts_hash")
_COLUMNS = ("pk", *_HASHED, "entry_hash", "kept__salt", "kept__facts")
_Ranges = list[list[int]]  # [first, last] of each, ascending


@dataclass(frozen=True)
class Broken:
    """What does not hold, and why: an entry of a chain, or a row (sequence 0) of whom the chain is about.

    The chain stands there by whom it is about, where that is known.
    """

    chain: str
    sequence: int
    reason: str


@dataclass
class ChainState:
    """How far a chain has been read, in members that JSON knows.

    `missing` are entries without facts that no `erased` entry has named so far, `erased` what was named.
    """

    chain: str
    sequence: int = 0
    entry_hash: str = GENESIS
    missing: _Ranges = field(default_factory=list)
    erased: _Ranges = field(default_factory=list)
    is_broken: bool = False

    def first_missing(self) -> int | None:
        """The first entry whose facts are gone though nothing says that they were erased."""
        named, reach = iter(sorted(self.erased)), (0, 0)
        for first, last in self.missing:
            while first <= last:
                while reach[1] < first:
                    begin, end = next(named, (last + 1, last + 1))
                    reach = (begin if begin > reach[1] + 1 else reach[0], max(end, reach[1]))
                if first < reach[0]:
                    return first
                first = reach[1] + 1
        return None


@dataclass(frozen=True)
class Page:
    """Entries that hold, chains that ended with them, what was found, and the chain to go on with."""

    entries: list[dict[str, Any]]
    ended: list[ChainState]
    found: list[Broken]
    state: ChainState


def names_of(chains: set[str]) -> dict[str, str]:
    """{chain: whom it is about} of those of these chains that are still somebody's."""
    return dict(AuditChain.objects.filter(chain__in=chains).values_list("chain", "subject"))


def facts_of(entry: dict[str, Any]) -> dict[str, Any]:
    """What an entry of a page tells; empty once that was erased."""
    return entry["kept__facts"] or {}


def verify(subject: str | None = None) -> Iterator[Broken]:
    """The first broken entry of every chain (or of one); nothing where all hold."""
    only = None if subject is None else chain_id(subject) or ""
    broken: set[str] = set()
    for page in read_pages(only=only):
        for flaw in page.found:
            broken.add(flaw.chain)
            yield flaw
    for heads in read_heads(only=only):
        yield from (flaw for flaw in verify_heads(heads) if flaw.chain not in broken)


def read_pages(*, after: ChainState | None = None, only: str | None = None) -> Iterator[Page]:
    """Every entry (or those of one chain) in the order of the chains, checked; from where `after` was taken."""
    state = after or ChainState("")
    while True:
        entries = _next_entries(state, only)
        is_last = len(entries) < PAGE
        page = _checked(entries, state, is_last=is_last)
        yield page
        if is_last:
            return
        state = page.state


def _next_entries(state: ChainState, only: str | None) -> list[dict[str, Any]]:
    """The rest of the chain, then those behind it: each of the two is one range of one index."""
    entries = AuditEntry.objects.all() if only is None else AuditEntry.objects.filter(chain=only)
    found: list[dict[str, Any]] = []
    if state.chain and not state.is_broken:
        rest = entries.filter(chain=state.chain, sequence__gt=state.sequence).order_by("sequence")
        found = list(rest.values(*_COLUMNS)[:PAGE])
    if len(found) < PAGE:
        behind = entries.filter(chain__gt=state.chain).order_by("chain", "sequence")
        found += behind.values(*_COLUMNS)[: PAGE - len(found)]
    return found


def _checked(entries: list[dict[str, Any]], state: ChainState, *, is_last: bool) -> Page:
    names = names_of({state.chain, *(entry["chain"] for entry in entries)})
    sound: list[dict[str, Any]] = []
    ended: list[ChainState] = []
    found: list[Broken] = []
    for entry in entries:
        if entry["chain"] != state.chain:
            ended.append(state)
            state = ChainState(entry["chain"])
        if state.is_broken:
            continue
        flaw = _flaw(entry, state)
        if flaw is None:
            sound.append(entry)
            continue
        state.is_broken = True
        sequence = state.sequence + 1 if entry["sequence"] > state.sequence + 1 else entry["sequence"]
        found.append(Broken(names.get(state.chain, state.chain), sequence, flaw))
    ended = [chain for chain in [*ended, *([state] if is_last else [])] if chain.chain]
    return Page(sound, ended, [*found, *_flaws_at_the_end(ended, names)], state)


def _flaws_at_the_end(ended: list[ChainState], names: dict[str, str]) -> Iterator[Broken]:
    heads = {head.chain: head for head in AuditHead.objects.filter(chain__in=[state.chain for state in ended])}
    for state in ended:
        if state.is_broken:
            continue
        name, head = names.get(state.chain, state.chain), heads.get(state.chain)
        if (missing := state.first_missing()) is not None:
            yield Broken(name, missing, "its facts are missing")
        elif head is None:
            yield Broken(name, 1, "the chain has no head")
        elif state.chain not in names and not state.erased:
            yield Broken(name, 1, "nobody knows whose chain this is, and no entry tells of an erasure")
        elif not _reaches(state, head):
            yield Broken(name, state.sequence + 1, "the chain ends before its head")
        else:
            continue
        state.is_broken = True


def _reaches(state: ChainState, head: AuditHead) -> bool:
    """Whether what was read is what the head says, or has gone on meanwhile."""
    if head.sequence > state.sequence:
        return AuditEntry.objects.filter(chain=state.chain, sequence=state.sequence + 1).exists()
    return (head.sequence, head.entry_hash) == (state.sequence, state.entry_hash)


def _flaw(entry: dict[str, Any], state: ChainState) -> str | None:
    """Why this entry does not follow what was read of its chain; where it does, the state moves on."""
    if entry["sequence"] != state.sequence + 1:
        return "an entry is missing before it"
    if entry["prev_hash"] != state.entry_hash:
        return "it does not follow the entry before it"
    if entry_hash(**{name: entry[name] for name in _HASHED}) != entry["entry_hash"]:
        return "it is not what was written"
    if entry["kept__salt"] is None:
        add_to_ranges(state.missing, entry["sequence"])
    elif facts_hash(entry["kept__facts"], bytes(entry["kept__salt"])) != entry["facts_hash"]:
        return "its facts are not what was written"
    state.sequence, state.entry_hash = entry["sequence"], entry["entry_hash"]
    if entry["kind"] == EventType.ERASED:
        state.erased += _named(facts_of(entry), entry["sequence"])
    return None


def _named(facts: dict[str, Any], sequence: int) -> _Ranges:
    """The ranges before it that an `erased` entry names; what somebody made up names none."""
    match facts.get("ranges"):
        case list(ranges) if all(isinstance(each, list) and list(map(type, each)) == [int, int] for each in ranges):
            return [[first, last] for first, last in ranges if first <= last < sequence]
    return []


def add_to_ranges(ranges: _Ranges, number: int) -> None:
    """Add the next higher number: it goes on with the last range, or begins one."""
    if ranges and ranges[-1][1] == number - 1:
        ranges[-1][1] = number
    else:
        ranges.append([number, number])


def read_heads(*, after: str = "", only: str | None = None) -> Iterator[list[AuditHead]]:
    """The heads of chains that have begun, by the names of the chains, a page at a time."""
    heads = AuditHead.objects.filter(sequence__gt=0).order_by("chain")
    heads = heads if only is None else heads.filter(chain=only)
    while page := list(heads.filter(chain__gt=after)[:PAGE]):
        yield page
        after = page[-1].chain


def verify_heads(heads: list[AuditHead]) -> Iterator[Broken]:
    """The heads whose entry is not there. Entries only come: whoever read a head first finds it."""
    chains = [head.chain for head in heads]
    at_heads = AuditEntry.objects.filter(chain__in=chains, sequence__in={head.sequence for head in heads})
    there = set(at_heads.values_list("chain", "sequence", "entry_hash"))
    names = names_of(set(chains))
    for head in heads:
        if (head.chain, head.sequence, head.entry_hash) not in there:
            last = AuditEntry.objects.filter(chain=head.chain).aggregate(last=Max("sequence"))["last"] or 0
            sequence = min(last + 1, head.sequence)
            yield Broken(names.get(head.chain, head.chain), sequence, "the chain ends before its head")
