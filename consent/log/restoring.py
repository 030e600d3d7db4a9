"""After the database was restored from a backup that is older than what was published.

With a mirror the tree grows again to the last size that was published, and only the rows of the entries that came after
the backup are lost. Without one, a tree of its own begins under another name, so that every reader sees the break.
Either way an entry of the deployment's own chain says what happened.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from common.batches import in_pages
from common.clock import database_now
from common.jose import from_base64url
from common.sql.triggers import lifted
from consent.errors import LogRefused
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.ledger.verifying import add_to_ranges
from consent.log import keys, mirror, notes, sequencing, signer
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.rules import RULES
from consent.states import Actor

_PART = 5_000  # leaves at once
# past every leaf and back, since a leaf whose number is taken until later would be refused
_ONE_FURTHER = (
    "UPDATE consent_log_leaves SET log_index = log_index + 1099511627776",
    "UPDATE consent_log_leaves SET log_index = log_index - 1099511627775",
)
_TABLES = (LogLeaf._meta.db_table, LogTile._meta.db_table, LogState._meta.db_table)

Also = Callable[[], None]


def _nothing() -> None:
    """Where a restore takes nothing else."""


@dataclass(frozen=True)
class Restored:
    """How many leaves there are, how many came back, and how many have no entry any more."""

    size: int
    added: int
    lost: int


# --- With a mirror ----------------------------------------------------------------------------------------------------
@transaction.atomic
def from_mirror(*, signer_too: bool = False, also: Also = _nothing) -> Restored:
    """Let the tree grow again to the newest checkpoint of the mirror.

    `signer_too` makes the signer's memory anew from that checkpoint, where it is lost. `also` is what else belongs in
    the transaction that tells of the restore. Raises `LogRefused` where the mirror does not continue the database's
    tree, was not signed by this log's key, or is behind its signer.
    """
    state = sequencing.locked_state()
    note = mirror.newest_note(state.epoch)
    newest = _read_note(note, state.epoch)
    if newest.size <= state.size:
        raise LogRefused(f"the mirror has {newest.size} leaves and the database {state.size}: nothing is to come back")
    if not signer_too:
        _require_signer(newest)
    growing = _Growing(state)
    growing.through(newest.size)
    if signer_too:
        signer.adopt(note=note, frontier=growing.frontier)
    facts = {"had": growing.had, "leaves_without_entries": growing.lost}
    _record_restore(state, facts, also)
    return Restored(newest.size, newest.size - growing.had, _count(growing.lost))


def _read_note(note: str, epoch: str) -> notes.Checkpoint:
    """What a checkpoint says, once one of our keys is known to have signed it."""
    if "\n\n" not in note or not any(notes.is_signed_by(note, key) for key in keys.verifier_keys(epoch)):
        raise LogRefused("a checkpoint is not signed by a key of this log")
    return notes.Checkpoint.of_note(note)


def _require_signer(newest: notes.Checkpoint) -> None:
    signed = signer.last_note()
    if signed is None:
        raise LogRefused("the signer's memory is missing: put it back, or have it made anew from the mirror")
    checkpoint = notes.Checkpoint.of_note(signed)
    if checkpoint.origin != newest.origin:
        raise LogRefused(f"the signer signs for {checkpoint.origin}, and the mirror is of {newest.origin}")
    if checkpoint.size > newest.size:
        raise LogRefused(f"the signer signed {checkpoint.size} leaves, and the mirror has {newest.size}")


class _Growing:
    """The tree of the database while it grows to what the mirror has, and is compared with it on the way."""

    def __init__(self, state: LogState) -> None:
        self.state, self.had = state, state.size
        self.edge = bytes(state.frontier)
        self.frontier = Frontier()
        self.entries = _without_leaf()
        self.lost: list[list[int]] = []

    def through(self, size: int) -> None:
        kept = AuditCheckpoint.objects.filter(epoch=self.state.epoch).order_by("-size").first()
        signed = mirror.notes_after(kept.size if kept else 0, self.state.epoch)
        checkpoints = {_read_note(note, self.state.epoch).size: note for note in signed}
        leaves = mirror.entries(size, self.state.epoch)
        for stop in sorted({self.had, size, *(each for each in checkpoints if self.had <= each <= size)}):
            self._grow(leaves, stop)
            if stop == self.had and self.frontier.to_bytes() != self.edge:
                raise LogRefused("the database's log does not begin as the mirror does: it takes a new epoch")
            if (note := checkpoints.get(stop)) is not None:
                self._keep(note)

    def _grow(self, leaves: Iterator[bytes], stop: int) -> None:
        while count := min(_PART, stop - self.frontier.size):
            part = list(islice(leaves, count))
            if self.frontier.size >= self.had:
                self._add(part)
            self.frontier.append(part)

    def _add(self, part: list[bytes]) -> None:
        found = [(leaf, self.entries.pop(leaf, None)) for leaf in part]
        for index, (_, pk) in enumerate(found, start=self.state.size):
            if pk is None:
                add_to_ranges(self.lost, index)
        sequencing.append(self.state, found)
        LogQueue.objects.filter(pk__in=[pk for _, pk in found if pk is not None]).delete()

    def _keep(self, note: str) -> None:
        if notes.Checkpoint.of_note(note).root != self.frontier.root():
            raise LogRefused(f"the mirror's checkpoint of {self.frontier.size} leaves is not over those that it has")
        sequencing.keep_checkpoint(self.state, self.frontier, note)


def _without_leaf() -> dict[bytes, int]:
    """The key of every entry that the database's log does not have, by its leaf."""
    unlogged = AuditEntry.objects.filter(leaf=None).values_list("pk", "entry_hash")
    pages = in_pages(unlogged, "pk", size=_PART)
    return {from_base64url(digest): pk for page in pages for pk, digest in page}


# --- Without one ------------------------------------------------------------------------------------------------------
def begin_epoch(name: str, *, last_note: str | None = None, also: Also = _nothing) -> Restored:
    """Begin a tree under the origin `…/log/<name>`: first the hash of the old tree's last note, then its leaves.

    `last_note` is the newest that anybody has of the old tree; without it, the one that the signer remembers, else the
    newest of the database. One that ended before it was signed goes on from there. `also` as above. Raises
    `LogRefused` where nothing was signed yet, and where there was such a tree before. Takes the owner of the tables,
    whose triggers keep everybody else from it.
    """
    if AuditCheckpoint.objects.filter(epoch=name).exists():
        raise LogRefused(f"there was a tree of the name {name} before")
    if LogState.objects.get(pk=1).epoch != name:
        _build_epoch(name, last_note, also)
    with transaction.atomic():
        state = sequencing.locked_state()
        frontier = Frontier.from_bytes(state.size, bytes(state.frontier))
        note = signer.begin_epoch(origin=keys.origin(name), frontier=frontier)
        mirror.write(note, epoch=name, since=0, frontier=frontier)
        sequencing.keep_checkpoint(state, frontier, note)
    lost = sum(1 for _ in _indexes_without_entry())
    return Restored(frontier.size, 1, lost - 1)


def _build_epoch(name: str, last_note: str | None, also: Also) -> None:
    rules = [rule for rule in RULES if rule.table in _TABLES and rule.event != "TRUNCATE"]
    with transaction.atomic(), lifted(connection, rules):
        state = sequencing.locked_state()
        note = _own_lines(last_note, state.epoch) if last_note else signer.last_note() or _newest_kept(state.epoch)
        if note is None:
            raise LogRefused("nothing was signed yet, so there is nothing to begin anew")
        frontier = _built_again(hashlib.sha256(note.encode()).digest())
        state.epoch, state.size, state.frontier, state.at = name, frontier.size, frontier.to_bytes(), database_now()
        state.save()
        _record_restore(state, {"last_note": note, "leaves_without_entries": _ranges(_indexes_without_entry())}, also)


def _own_lines(note: str, epoch: str) -> str:
    """A checkpoint that somebody kept, as the log signed it: readers hash it without the lines of witnesses."""
    checkpoint = _read_note(note, epoch)
    lines = note.partition("\n\n")[2].split("\n")
    own = (f"{line}\n" for line in lines if line.split(" ")[1:2] == [checkpoint.origin])
    return f"{checkpoint.text}\n{''.join(own)}"


def _newest_kept(epoch: str) -> str | None:
    kept = AuditCheckpoint.objects.filter(epoch=epoch).order_by("-size")
    return kept.values_list("note", flat=True).first()


def _built_again(first: bytes) -> Frontier:
    """Every leaf one further, `first` before them all, and the tiles over that."""
    with connection.cursor() as cursor:
        for statement in _ONE_FURTHER:
            cursor.execute(statement)
    LogLeaf.objects.create(log_index=0, entry=None, entry_hash=first)
    LogTile.objects.all().delete()
    frontier = Frontier()
    for page in in_pages(LogLeaf.objects.values_list("log_index", "entry_hash"), "log_index", size=_PART):
        filled = frontier.append([bytes(leaf) for _, leaf in page])
        LogTile.objects.bulk_create(
            LogTile(level=each.level, number=each.number, hashes=each.hashes) for each in filled
        )
    return frontier


def _indexes_without_entry() -> Iterator[int]:
    there = AuditEntry.objects.filter(pk=OuterRef("entry_id"))
    lost = LogLeaf.objects.exclude(Exists(there)).values_list("log_index")
    return (index for page in in_pages(lost, "log_index", size=_PART) for (index,) in page)


# --- Both -------------------------------------------------------------------------------------------------------------
def _record_restore(state: LogState, facts: dict[str, Any], also: Also) -> None:
    """The entry about it, which enters the log like any other, and in its transaction what else a restore takes."""
    root = Frontier.from_bytes(state.size, bytes(state.frontier)).root()
    entry_facts = {"epoch": state.epoch, "size": state.size, "root": notes.base64_of(root), **facts}
    kind, actor = EventType.RESTORED.value, Actor.SYSTEM.value
    also()
    audit.append(chain=audit.DEPLOYMENT, kind=kind, actor=actor, at=database_now(), facts=entry_facts)


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for number in numbers:
        add_to_ranges(found, number)
    return found


def _count(ranges: list[list[int]]) -> int:
    return sum(last - first + 1 for first, last in ranges)
