"""Whether the log holds: its leaves, tiles and checkpoints against each other, and against the entries.

One pass by log index with flat memory: the tree is built again from the leaves, and what it gives at each tile and
each checkpoint is compared with what is kept.
"""

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from common.batches import in_pages
from common.clock import database_now, rfc3339
from common.jose import base64url, from_base64url
from consent.errors import LogRefused
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.ledger.verifying import Broken
from consent.log import keys, notes, signer
from consent.log.merkle import Frontier, Tile
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile

NAME = "log"
LATE = timedelta(minutes=10)
_PART = 10_000  # leaves at once

_Leaf = tuple[int, bytes, int | None, str | None]  # its index, itself, and of its entry the key and the hash


@dataclass
class LogPosition:
    """How far a pass over the leaves has come, in members that JSON knows.

    `frontier` is the edge of the tree that the pass itself built of the leaves it read, in base64: whoever keeps this
    outside the database need not believe that about what lies before. `kinds` are those of what was found on the way.
    """

    epoch: str = ""
    size: int = 0
    frontier: str = ""
    kinds: list[str] = field(default_factory=list)


def verify_log_in_parts(position: LogPosition) -> Iterator[list[Broken]]:
    """The first difference of each kind, by log index: what each part of the leaves has, and at the end what belongs to
    no leaf; `position` has moved on by then. A tree that a restore began is read from its own beginning.
    """
    now = database_now()
    pass_ = _Pass(LogState.objects.get(pk=1), now, position)
    yield from pass_.parts()
    yield [*pass_.check_end(), *_missing(now)]


class _Pass:
    """One walk over the leaves, beside the tiles of each level and the checkpoints."""

    def __init__(self, state: LogState, now: datetime, position: LogPosition) -> None:
        if position.epoch != state.epoch:
            position.epoch, position.size, position.frontier = state.epoch, 0, ""
        self.state, self.now, self.position = state, now, position
        edge = base64.b64decode(position.frontier, validate=True)
        self.frontier = Frontier.from_bytes(position.size, edge)
        self.keys = keys.verifier_keys(state.epoch)
        self.recorded_losses = [
            each for restore in recorded_restores() if restore.epoch == state.epoch for each in restore.lost
        ]
        self.checkpoints = _Checkpoints(state.epoch, self.frontier.size)
        self.tiles: dict[int, Iterator[Tile]] = {}

    def parts(self) -> Iterator[list[Broken]]:
        for part in self._leaves():
            found = [*self._check_entries(part), *self._grow([entry_hash for _, entry_hash, _, _ in part])]
            edge = base64.b64encode(self.frontier.to_bytes()).decode()
            self.position.size, self.position.frontier = self.frontier.size, edge
            yield found

    def _leaves(self) -> Iterator[list[_Leaf]]:
        leaves = LogLeaf.objects.filter(log_index__gte=self.frontier.size)
        rows = leaves.values_list("log_index", "entry_hash", "entry_id", "entry__entry_hash")
        for page in in_pages(rows, "log_index", size=_PART):
            yield [(at, bytes(raw), pk, text) for at, raw, pk, text in page]

    def _once(self, kind: str, index: int, reason: str) -> Iterator[Broken]:
        """The first of a kind is told; what follows from it would only repeat it."""
        if kind not in self.position.kinds:
            self.position.kinds.append(kind)
            yield Broken(NAME, index, reason)

    def _check_entries(self, part: list[_Leaf]) -> Iterator[Broken]:
        for place, (index, entry_hash, pk, text) in enumerate(part):
            if index != self.frontier.size + place:
                yield from self._once("gap", self.frontier.size + place, "a leaf is missing")
            if text is None:
                if not any(first <= index <= last for first, last in self.recorded_losses):
                    yield from self._once("entry", index, "the entry of this leaf is gone")
            elif from_base64url(text) != entry_hash:
                yield from self._once("entry", index, f"the entry {pk} is not the one that entered the log")

    def _grow(self, entries: list[bytes]) -> Iterator[Broken]:
        """Append, stopping at the size of each checkpoint to compare its root."""
        while entries:
            stop = self.checkpoints.next_size()
            count = min(len(entries), stop - self.frontier.size) if stop is not None else len(entries)
            part, entries = entries[:count], entries[count:]
            for tile in self.frontier.append(part):
                yield from self._check_tile(tile)
            if self.frontier.size == stop:
                yield from self._check_checkpoint(self.checkpoints.take())

    def _check_tile(self, tile: Tile) -> Iterator[Broken]:
        kept = self.tiles.setdefault(tile.level, _tiles(tile.level, tile.number))
        if next(kept, None) != tile:
            text = f"the tile {tile.number} of level {tile.level} is missing or is not what the leaves make of it"
            yield from self._once("tile", tile.number << 8 * (tile.level + 1), text)

    def _check_checkpoint(self, checkpoint: AuditCheckpoint) -> Iterator[Broken]:
        size = checkpoint.size
        expected = notes.Checkpoint(keys.origin(checkpoint.epoch), size, self.frontier.root())
        if not checkpoint.note.startswith(f"{expected.text}\n"):
            yield from self._once("root", size, "the checkpoint of this size is not over the leaves that are there")
        elif not any(notes.is_signed_by(checkpoint.note, key) for key in self.keys):
            yield from self._once("signature", size, "the signature of the checkpoint of this size does not hold")
        elif checkpoint.root != base64url(expected.root):
            yield from self._once("root", size, "the checkpoint of this size keeps another root than it signed")

    def check_end(self) -> Iterator[Broken]:
        state, last = self.state, self.checkpoints.last
        grown = LogState.objects.filter(pk=1).exclude(size=state.size).exists()
        if not grown and (self.frontier.size, self.frontier.to_bytes()) != (state.size, bytes(state.frontier)):
            yield Broken(NAME, self.frontier.size, f"the log is said to have {state.size} leaves, of another root")
        if (beyond := self.checkpoints.next_size()) is not None and not grown:
            yield Broken(NAME, beyond, "a checkpoint was signed over more leaves than there are")
        late = self.now - LATE
        # each batch renews the state's time, though nobody signs; a leaf whose entry a restore lost has no other
        unsigned = LogLeaf.objects.filter(log_index__gte=last, log_index__lt=state.size, entry__at__lte=late)
        is_signing = AuditCheckpoint.objects.filter(epoch=state.epoch, at__gt=late).exists()
        if last < state.size and (state.at <= late or (unsigned.exists() and not is_signing)):
            yield Broken(NAME, state.size, "no checkpoint was signed over the newest leaves for more than ten minutes")
        yield from _gone_checkpoints(state)
        yield from _against_signer(state, last)


class _Checkpoints:
    """The checkpoints of this tree in the order of their sizes, one ahead."""

    def __init__(self, epoch: str, after: int) -> None:
        kept = AuditCheckpoint.objects.filter(epoch=epoch, size__gt=after)
        self._rows: Iterator[AuditCheckpoint] = (row for page in in_pages(kept, "size", size=500) for row in page)
        self._next = next(self._rows, None)
        before = AuditCheckpoint.objects.filter(epoch=epoch, size__lte=after).order_by("-size")
        self.last = before.values_list("size", flat=True).first() or 0

    def next_size(self) -> int | None:
        return self._next.size if self._next is not None else None

    def take(self) -> AuditCheckpoint:
        taken, self._next = self._next, next(self._rows, None)
        if taken is None:
            raise LookupError("there is no further checkpoint")
        self.last = taken.size
        return taken


def _tiles(level: int, first: int) -> Iterator[Tile]:
    rows = LogTile.objects.filter(level=level, number__gte=first).values_list("number", "hashes")
    for page in in_pages(rows, "number", size=200):
        yield from (Tile(level, number, bytes(hashes)) for number, hashes in page)


@dataclass(frozen=True)
class RecordedRestore:
    """What an entry about a restore says: when, of which tree, and which leaves have no entry since then."""

    at: datetime
    epoch: str
    lost: list[tuple[int, int]]


def recorded_restores() -> list[RecordedRestore]:
    """Every restore that the deployment's chain tells of. Whoever owns the database can tell of one that never was."""
    entries = AuditEntry.objects.of(audit.DEPLOYMENT).filter(kind=EventType.RESTORED).select_related("kept")
    return [
        RecordedRestore(
            entry.at,
            entry.facts.get("epoch", ""),
            [(first, last) for first, last in entry.facts.get("leaves_without_entries", [])],
        )
        for entry in entries.order_by("sequence")
    ]


def _gone_checkpoints(state: LogState) -> Iterator[Broken]:
    """The first number that no checkpoint has any more, of those that were kept when the pass began."""
    kept = AuditCheckpoint.objects.filter(number__lte=state.signed).values_list("number")
    numbers = itertools.chain(
        (number for page in in_pages(kept, "number", size=_PART) for (number,) in page), itertools.repeat(0)
    )
    for expected, number in zip(range(1, state.signed + 1), numbers, strict=False):
        if number != expected:
            yield Broken(NAME, state.size, f"the checkpoint {expected} of {state.signed} that were signed is gone")
            break
    uncounted = AuditCheckpoint.objects.filter(number__gt=LogState.objects.values("signed"))
    for number in uncounted.values_list("number", flat=True)[:1]:
        yield Broken(NAME, state.size, f"there is a checkpoint {number}, and fewer were signed")


def _against_signer(state: LogState, last: int) -> Iterator[Broken]:
    """What the signer remembers, where it is on this machine, against what is kept."""
    try:
        note = signer.last_note()
    except LogRefused as refused:
        yield Broken(NAME, last, str(refused))
        return
    if note is None:
        return
    signed = notes.Checkpoint.of_note(note)
    if signed.origin != keys.origin(state.epoch):
        yield Broken(NAME, last, f"the signer signs for {signed.origin}, and this log is {keys.origin(state.epoch)}")
    elif signed.size > state.size:
        yield Broken(NAME, state.size, f"the signer signed {signed.size} leaves: the log was cut or rolled back")
    elif not last:
        yield Broken(NAME, state.size, f"the signer signed {signed.size} leaves, and no checkpoint is kept")
    elif signed.size <= last:  # else it is about to be kept, or `no checkpoint` is told in ten minutes
        kept = AuditCheckpoint.objects.filter(epoch=state.epoch, size=signed.size).values_list("note", flat=True)
        if kept.first() != note:
            yield Broken(NAME, signed.size, "the signer remembers another checkpoint of this size")


def _missing(now: datetime) -> Iterator[Broken]:
    """Entries that the log does not have and that have waited for too long."""
    queued = LogQueue.objects.filter(pk=OuterRef("pk"), at__gt=now - LATE)
    without = AuditEntry.objects.filter(at__lte=now - LATE, leaf=None).exclude(Exists(queued)).order_by("pk")
    for chain, sequence, at in without.values_list("chain", "sequence", "at")[:1]:
        yield Broken(chain, sequence, f"it is of {rfc3339(at)} and has not entered the log")
