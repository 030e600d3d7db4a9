"""Who signs the log's checkpoints, and remembers what was signed, outside the database.

The signer keeps its own right edge of the tree in a file of its own. It never signs a size or a root that the database
gives it: it appends the new leaves to the edge that it remembers and signs what comes of that. So whatever was done to
the database, a checkpoint of this signer is consistent with all that it signed before. The file is synced before a
signature is handed out; a crash in between leaves a note that is signed again, the very same.
"""

import base64
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.conf import settings

from consent.errors import LogRefused
from consent.log import keys, notes
from consent.log.merkle import Frontier

_PART = 10_000  # leaves at once

Leaves = Callable[[int, int], Iterator[bytes]]  # those from one log index up to another, in order


@dataclass(frozen=True)
class Memory:
    """What the signer signed last."""

    origin: str
    frontier: Frontier
    note: str

    def to_json(self) -> str:
        """As the file holds it."""
        edge = base64.b64encode(self.frontier.to_bytes()).decode()
        return json.dumps(
            {"origin": self.origin, "size": self.frontier.size, "frontier": edge, "note": self.note}, indent=1
        )

    @classmethod
    def of_json(cls, text: str) -> "Memory":
        """Raises ValueError or KeyError where the file is no memory of a signer."""
        kept = json.loads(text)
        frontier = Frontier.from_bytes(int(kept["size"]), base64.b64decode(kept["frontier"], validate=True))
        return cls(str(kept["origin"]), frontier, str(kept["note"]))


def sign(*, origin: str, size: int, root: bytes, leaves: Leaves, first: bool) -> str:
    """The note over the first `size` leaves; `leaves` reads them.

    `first` says that nothing was ever signed: only then may the signer remember nothing. Raises `LogRefused` where
    the database's root is not what the new leaves make of the tree that was signed last.
    """
    with _locked() as path:
        memory = _read(path)
        if memory is None and not first:
            raise LogRefused(f"{path} is missing, so the signer does not know what it signed: see docs/operating.md")
        frontier = memory.frontier if memory is not None else Frontier()
        if memory is not None and memory.origin != origin:
            raise LogRefused(f"the signer signs for {memory.origin}, and this log is {origin}")
        if size < frontier.size:
            raise LogRefused(f"the signer signed {frontier.size} leaves, and the database has {size}")
        for part in _parts(leaves(frontier.size, size)):
            frontier.append(part)
        if (frontier.size, frontier.root()) != (size, root):
            raise LogRefused(f"the {size} leaves of the database do not follow from what was signed before")
        return _signed(path, origin, frontier)


def begin_epoch(*, origin: str, frontier: Frontier) -> str:
    """Forget the tree that was signed for, and sign the first leaves of another under a new origin."""
    with _locked() as path:
        return _signed(path, origin, frontier)


def require_not_ahead(*, origin: str, size: int) -> None:
    """Raises `LogRefused` where more leaves were signed than there are: then nothing may take the place of the others.

    `sign` would refuse too, but only after new leaves stand where the lost ones stood.
    """
    memory = _read(Path(settings.LOG_SIGNER_FILE))
    if memory is not None and memory.origin == origin and memory.frontier.size > size:
        raise LogRefused(f"the signer signed {memory.frontier.size} leaves, and the database has {size}")


def adopt(*, note: str, frontier: Frontier) -> None:
    """Remember a note of ours as the one that was signed last, after the file was lost with its machine.

    Raises `LogRefused` where there is a file: what the signer remembers itself counts over whatever it is told.
    """
    with _locked() as path:
        if _read(path) is not None:
            raise LogRefused(f"{path} is there, and says what was signed")
        _write(path, Memory(notes.Checkpoint.of_note(note).origin, frontier, note))


def last_note() -> str | None:
    memory = _read(Path(settings.LOG_SIGNER_FILE))
    return memory.note if memory is not None else None


def _signed(path: Path, origin: str, frontier: Frontier) -> str:
    note = notes.signed(notes.Checkpoint(origin, frontier.size, frontier.root()), keys.signing_keys())
    _write(path, Memory(origin, frontier, note))
    return note


def _parts(leaves: Iterator[bytes]) -> Iterator[Sequence[bytes]]:
    while part := list(islice(leaves, _PART)):
        yield part


@contextmanager
def _locked() -> Iterator[Path]:
    """One signer at a time; whoever waits goes on from what the other one wrote."""
    path = Path(settings.LOG_SIGNER_FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(f"{path.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path


def _read(path: Path) -> Memory | None:
    try:
        text = path.read_text()
    except FileNotFoundError:
        return None
    try:
        return Memory.of_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise LogRefused(f"{path} is not what a signer wrote") from error


def _write(path: Path, memory: Memory) -> None:
    """On the disk, name and all, before anything is answered."""
    aside = path.with_name(f".{path.name}.new")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(memory.to_json())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
