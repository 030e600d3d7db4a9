"""A log as one reader sees it: the keys that this reader pinned, and the last checkpoint that it saw.

Whoever shows this reader another log than before, or an older one, is found: every checkpoint must be consistent with
the last one. What a reader sees for the first time it can only take as it is; witnesses say that others see the same.
A new key of the log is learned from a checkpoint that a known key signed beside it, and from nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from consent_bridge import merkle, notes
from consent_bridge.encoding import parse_object
from consent_bridge.entries import Entry, digest_of_receipt, read_entry
from consent_bridge.errors import BridgeError, Refused, shown
from consent_bridge.notes import Checkpoint, Proof, VerifierKey
from consent_bridge.state import read_small_file, write_private_file

FRESH_SECONDS = 24 * 3600
LATE_SECONDS = 600


class LogKeyChanged(Refused):
    """The newest checkpoint is signed with no key that this reader knows, so that nobody vouches for the new one."""


class LogEpochChanged(Refused):
    """A key that this reader knows signed the tree of another name: `last` is what was seen, `newest` the new tree's.

    So a log begins anew after a restore without a mirror. What was lost cannot be seen from here, so that only the
    caller's word takes the new tree (`accept_log_epoch`).
    """

    def __init__(self, last: Checkpoint, newest: Checkpoint) -> None:
        finding = f"the log {last.origin}, last seen with {last.size} entries, begins anew as {newest.origin}"
        super().__init__(f"{finding}: ask the operator what was restored before you accept it", member="origin")
        self.last, self.newest = last, newest


class NothingPublished(BridgeError):
    """The log has no checkpoint yet, and this reader never saw one: there is nothing to compare with."""

    def __init__(self) -> None:
        super().__init__("nothing has been published in the log yet; it takes what is new every few seconds: come back")


@dataclass(frozen=True)
class Trust:
    """Whom a reader believes: the log's keys, the witnesses, and how many of these must have cosigned; None is all.

    `earlier` are keys that others took the place of: what they signed counts as far as a present key signed it, too.
    """

    keys: tuple[VerifierKey, ...]
    witnesses: tuple[VerifierKey, ...] = ()
    quorum: int | None = None
    earlier: tuple[VerifierKey, ...] = ()

    def require(self, checkpoint: Checkpoint) -> None:
        """Refuse a checkpoint with too few cosignatures."""
        if absent := notes.missing(checkpoint, self.witnesses, self.quorum):
            raise Refused(f"not cosigned by {', '.join(absent)}", member="cosignatures")


@dataclass(frozen=True)
class Memory:
    """What a reader keeps of a log between two looks. `fixed` where the caller named the keys: no other is learned.

    `ended` are the last checkpoints that it saw of trees that another took the place of, as signed notes.
    """

    trust: Trust
    checkpoint: Checkpoint | None = None
    fixed: bool = False
    ended: tuple[str, ...] = ()

    def read(self, note: str) -> Checkpoint:
        """The newest checkpoint, by its own signature; that it follows from the last one is not said yet."""
        if self.checkpoint is not None and not notes.signers(note, self.trust.keys):
            if (newest := self.begun_anew(note)) is not None:
                raise LogEpochChanged(self.checkpoint, newest)
            finding = "the log is signed with another key, and none that this reader knows vouches for it"
            raise LogKeyChanged(f"{finding}: ask the operator on another way before you take it", member="signature")
        return notes.read_checkpoint(note, self.trust.keys, self.trust.witnesses)

    def begun_anew(self, note: str) -> Checkpoint | None:
        """The newest checkpoint where a known key signed it under another name than the last one's; else None."""
        origin = notes.origin_of(note)
        if self.checkpoint is None or origin == self.checkpoint.origin:
            return None
        keys = self._keys_of(origin)
        return notes.read_checkpoint(note, keys, self.trust.witnesses) if notes.signers(note, keys) else None

    def accepting(self, newest: Checkpoint) -> Memory:
        """The memory that goes on with a tree that began anew."""
        ended = (*self.ended, *([self.checkpoint.note] if self.checkpoint else []))
        trust = replace(self.trust, keys=self._keys_of(newest.origin), earlier=())
        return replace(self, trust=trust, checkpoint=newest, ended=ended)

    def _keys_of(self, origin: str) -> tuple[VerifierKey, ...]:
        """The present keys under another name of the log, which is part of what a verifier key is."""
        return tuple(replace(key, name=origin) for key in self.trust.keys)

    def of_no_checkpoint(self) -> BridgeError:
        """What it is that nothing is published: not begun, or, where something was seen before, taken away."""
        if self.checkpoint is None:
            return NothingPublished()
        had = self.checkpoint.size
        return Refused(f"the log publishes nothing and had {had} entries when it was last seen", member="size")

    def read_proof(self, text: str, *, tied: bool = False) -> Proof:
        """A tlog-proof against a checkpoint of this log that a known key signed, a key of its time included.

        Where the caller goes on to tie the checkpoint to the last one, that says as much, and the key of its time need
        not be known. What is newer than the last one takes a present key in any case.
        """
        everybody = (*self.trust.keys, *self.trust.earlier)
        if not tied:
            self._require_known_signer(text.partition("\n\n")[2])
        proof = notes.read_proof(text, everybody, self.trust.witnesses, by_anyone=tied)
        seen, last = proof.checkpoint, self.checkpoint
        if not notes.signers(seen.note, self.trust.keys) and (last is None or seen.size > last.size):
            raise Refused("no key that counts now signed this checkpoint", member="signature")
        return proof

    def _require_known_signer(self, note: str) -> None:
        """Refuse a proof of a key that this reader does not know: which one it takes, and what else would do."""
        known = (*self.trust.keys, *self.trust.earlier)
        if notes.signers(note, known):
            return
        signed = ", ".join(notes.key_ids(note)) or "none"
        own = ", ".join(key.key_id.hex() for key in known)
        finding = f"the proof is signed by the key {signed} of {shown(notes.origin_of(note))}, and known are {own}"
        more = "give that key (--log-key), which the operator and who looked at /log/key then have, or look online"
        raise Refused(
            f"{finding}: {more}, since the newest checkpoint begins with the one of the proof", member="signature"
        )

    def keys_seem_changed(self) -> bool:
        """Whether the keys of the log seem to change: one more signed the last checkpoint, or one of them did not."""
        if self.checkpoint is None or self.fixed:
            return False
        signing = notes.signers(self.checkpoint.note, self.trust.keys)
        return len(signing) < len(self.trust.keys) or notes.has_other_signer(self.checkpoint, self.trust.keys)

    def with_keys(self, named: Sequence[VerifierKey]) -> Memory:
        """The memory with those of the keys that the service names which signed the last checkpoint.

        A key that was known signed it as well (`read`), and so vouches for them. What signs no more is an earlier.
        """
        if self.checkpoint is None:
            return self
        own = [key for key in named if key.name == self.checkpoint.origin]
        signing = notes.signers(self.checkpoint.note, own)
        if not signing:
            return self
        before = dict.fromkeys((*self.trust.keys, *self.trust.earlier))
        earlier = tuple(key for key in before if key not in signing)
        return replace(self, trust=replace(self.trust, keys=signing, earlier=earlier))

    def tie(self, seen: Checkpoint, proof: Sequence[bytes]) -> Memory:
        """The memory once this was seen; Refused where one of it and the last does not begin with the other.

        `proof` is the proof of consistency between the two sizes, which `gap` names.
        """
        last = self.checkpoint
        if last is None:
            return replace(self, checkpoint=seen)
        if seen.origin != last.origin:
            raise Refused(
                f"this is the log {shown(seen.origin)}; the last one was {shown(last.origin)}", member="origin"
            )
        old, new = sorted((last, seen), key=lambda checkpoint: checkpoint.size)
        if not merkle.is_consistent(old.size, old.root, new.size, new.root, proof):
            raise Refused("the log was rewritten: it does not fit what was last seen of it", member="root")
        return replace(self, checkpoint=seen if seen.size >= last.size else last)

    def gap(self, seen: Checkpoint) -> tuple[int, int] | None:
        """Between which sizes a proof is needed; None where there is none to ask for."""
        last = self.checkpoint.size if self.checkpoint else 0
        old, new = sorted((last, seen.size))
        return (old, new) if 0 < old < new else None

    def require_no_rollback(self, newest: Checkpoint) -> None:
        """Refuse a newest checkpoint that is older than what was seen: what is published never gets smaller."""
        if self.checkpoint is not None and newest.size < self.checkpoint.size:
            finding = f"the log has {newest.size} entries and had {self.checkpoint.size} when it was last seen"
            raise Refused(f"{finding}: it was rolled back", member="size")

    def is_fresh(self, now: float) -> bool | None:
        """Whether as many witnesses as must cosigned the last checkpoint within a day; None where none is known."""
        if not self.trust.witnesses:
            return None
        if self.checkpoint is None:
            return False
        recent = tuple(each for each in self.checkpoint.cosignatures if now - FRESH_SECONDS <= each.at)
        seen = replace(self.checkpoint, cosignatures=recent)
        return bool(recent) and not notes.missing(seen, self.trust.witnesses, self.trust.quorum)


@dataclass
class MemoryFile:
    """The memories of a reader by the service's address, in a file that only this user can read."""

    path: Path
    _kept: dict[str, Any] = field(default_factory=dict)

    def find(self, service: str) -> Memory | None:
        """What is remembered of the log of this service."""
        if not self.path.exists():
            return None
        self._kept = parse_object(read_small_file(self.path, "the memory of logs"), f"the memory of logs {self.path}")
        stored = self._kept.get(service)
        return memory_of(stored) if isinstance(stored, Mapping) else None

    def keep(self, service: str, memory: Memory) -> None:
        """Remember it from now on."""
        self.find(service)
        self._kept[service] = {
            "keys": [str(key) for key in memory.trust.keys],
            "earlier": [str(key) for key in memory.trust.earlier],
            "witnesses": [str(key) for key in memory.trust.witnesses],
            "quorum": memory.trust.quorum,
            "checkpoint": memory.checkpoint.note if memory.checkpoint else None,
            "ended": list(memory.ended),
        }
        write_private_file(self.path, self._kept, force=True)


@dataclass(frozen=True)
class LogSight:
    """What a look at the log showed; `fresh` is None where no witness is known."""

    checkpoint: Checkpoint
    fresh: bool | None


class LogKeeper:
    """What one client remembers of logs: in a file where it was given one, else as long as it lives."""

    def __init__(self, path: Path | None, trust: Trust | None) -> None:
        self._file = MemoryFile(path) if path else None
        self._trust, self._own = trust, dict[str, Memory]()

    def find(self, service: str) -> Memory | None:
        """What is remembered; whom the caller trusts counts over whom an earlier look pinned."""
        memory = self._file.find(service) if self._file else self._own.get(service)
        if self._trust is None:
            return memory
        return replace(memory, trust=self._trust, fixed=True) if memory else Memory(self._trust, fixed=True)

    def known(self, service: str) -> Memory:
        """The same where there was a look already."""
        memory = self.find(service)
        if memory is None:
            raise Refused("this log was never looked at")
        return memory

    def keep(self, service: str, memory: Memory) -> LogSight:
        """Remember it, and tell what was seen."""
        if self._file:
            self._file.keep(service, memory)
        self._own[service] = memory
        if memory.checkpoint is None:
            raise Refused("this log was never looked at")
        return LogSight(memory.checkpoint, memory.is_fresh(time.time()))


def memory_of(stored: Mapping[str, Any]) -> Memory:
    """{"keys", "witnesses", "quorum", "earlier", "checkpoint" (a signed note), "ended"}, as a reader keeps it."""
    kept = (tuple(map(VerifierKey.parse, stored.get(name) or ())) for name in ("keys", "witnesses", "earlier"))
    keys, witnesses, earlier = kept
    quorum, note = stored.get("quorum"), stored.get("checkpoint")
    trust = Trust(keys, witnesses, quorum if isinstance(quorum, int) else None, earlier)
    everybody = (*keys, *earlier)
    seen = notes.read_checkpoint(note, everybody, witnesses) if isinstance(note, str) else None
    return Memory(trust, seen, ended=tuple(map(str, stored.get("ended") or ())))


def read_keys(text: str) -> tuple[VerifierKey, ...]:
    """What `/log/key` says: a verifier key a line, newest first."""
    keys = tuple(VerifierKey.parse(line) for line in text.splitlines() if line)
    if not keys or any(key.kind != notes.ED25519 for key in keys):
        raise Refused("the service names no key of its log")
    return keys


def read_consistency(text: str) -> tuple[bytes, ...]:
    """What `/log/consistency` says."""
    return notes.read_hashes(text.splitlines())


@dataclass(frozen=True)
class ProvenEvent:
    """What a receipt proves beyond its signature: the entry of its event is in the log, in this checkpoint."""

    entry: Entry
    proof: Proof


def check_receipt(
    claims: Mapping[str, Any], answer: Mapping[str, Any], memory: Memory, *, tied: bool = False
) -> ProvenEvent:
    """The entry and proof that came with a receipt; Refused where they are not of it, or prove nothing.

    `answer` has `entry` and `proof` as `GET /receipts/{id}?proof=1` answers them. No network is asked.
    """
    entry, text = read_entry(answer.get("entry")), answer.get("proof")
    if not isinstance(text, str):
        raise Refused("the receipt came without a proof", member="proof")
    _belongs(claims, entry)
    proof = memory.read_proof(text, tied=tied)
    memory.trust.require(proof.checkpoint)
    proof.check(entry.leaf)
    return ProvenEvent(entry, proof)


def _belongs(claims: Mapping[str, Any], entry: Entry) -> None:
    """Refuse an entry that is not that of the receipt: the copy names it, and its facts hold the receipt."""
    named = claims.get("audit")
    if isinstance(named, Mapping) and "chain" in named:
        for member in ("chain", "sequence", "entry_hash"):
            if named.get(member) != getattr(entry, member):
                raise Refused(f"the receipt names another entry: {member} differs", member=f"audit.{member}")
    event = claims.get("event")
    if not isinstance(event, Mapping) or event.get("type") != entry.kind:
        raise Refused(f"the entry is of another event: {shown(entry.kind)}", member="event.type")
    facts = entry.facts
    if facts is None:  # with the receipt itself alone are facts erased: any leaf would prove it
        raise Refused("the entry's facts are gone, and with them what ties it to the receipt", member="facts")
    if facts.get("receipt_id") != claims.get("receipt_id"):
        raise Refused("the entry is of another receipt", member="receipt_id")
    if facts.get("receipt_digest") != digest_of_receipt(claims):
        raise Refused("the receipt does not say what its entry holds", member="receipt_digest")


def newest_in_log(count: int, has: Callable[[int], bool]) -> int:
    """The number of the newest of so many entries that the log has, 0 for none; each is in it before those after it.

    Goes back from the newest in growing steps and then halves what is between: few questions, however many wait.
    """
    found, absent, step = 0, count + 1, 1
    while absent - found > 1:
        number = (found + absent) // 2 if found else max(1, absent - step)
        if has(number):
            found = number
        else:
            absent, step = number, step * 2
    return found


def is_late(at: str) -> bool:
    """Whether an entry of this time should have been in the log for long: it takes new ones every few seconds."""
    try:
        return time.time() - datetime.fromisoformat(at).timestamp() > LATE_SECONDS
    except ValueError as error:
        raise Refused(f"{shown(at)} is no time", member="at") from error


def as_json(checkpoint: Checkpoint, fresh: bool | None) -> dict[str, Any]:
    """What a command prints of a log."""
    return {
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": notes.encode(checkpoint.root),
        "cosigned_by": [cosignature.witness for cosignature in checkpoint.cosignatures],
        "freshness": {True: "proven", False: "not proven", None: "not proven: no witness is known"}[fresh],
    }
