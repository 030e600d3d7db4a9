"""A copy of what is published, in a folder: the same files under the same names.

It is written before a checkpoint is published, so that whatever anybody was shown can be read there, also after the
database was restored from an older backup. Files are only added (`checkpoint` alone is replaced), so the folder may be
append-only storage: docs/operating.md says how to carry it to a bucket with object lock. A tree that a restore began
has a folder of its own in it, of the name of its epoch.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from consent.errors import LogRefused
from consent.log import tree
from consent.log.merkle import HEIGHT, WIDTH, Frontier, tile_width
from consent.log.notes import Checkpoint


class NotMirrored(LogRefused):
    """The mirror has no such file."""


def tile_path(level: int | str, number: int, width: int) -> str:
    """The name of a tile (or, for the level `entries`, of a bundle of entries), as tlog-tiles spells it."""
    digits = f"{number:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    path = "/".join([*(f"x{part}" for part in parts[:-1]), parts[-1]])
    return f"tile/{level}/{path}" + ("" if width == WIDTH else f".p/{width}")


def _folder(epoch: str) -> Path:
    return Path(settings.LOG_MIRROR) / epoch


def write(note: str, *, epoch: str, since: int, frontier: Frontier) -> None:
    """Add what is new since a size, then the checkpoint; nothing where no mirror is set. The state's row is locked."""
    if not settings.LOG_MIRROR:
        return
    folder, size = _folder(epoch), frontier.size
    for level, number, width in new_tiles(since, size):
        hashes = tree.tile(level, number, width)
        _add(folder / tile_path(level, number, width), hashes)
        if level == 0:
            _add(folder / tile_path("entries", number, width), tree.entry_bundle(number, width))
    checkpoints = folder / "checkpoints"
    _add(checkpoints / str(Checkpoint.of_note(note).size), note.encode())
    _replace(folder / "checkpoint", note.encode())


def new_tiles(since: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Level, number and width of the tiles of a tree that one of `since` leaves does not have."""
    level = 0
    while size >> HEIGHT * level:
        for number in range(since >> HEIGHT * (level + 1), (size >> HEIGHT * (level + 1)) + 1):
            width = tile_width(level, number, size)
            if width > tile_width(level, number, since):
                yield level, number, width
        level += 1


def _add(path: Path, content: bytes | None) -> None:
    """Add a file that never changes; one that is there already, from a time that did not come to its end, stays."""
    if content is None:
        raise RuntimeError(f"the log has no {path.name} to mirror")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)
    elif path.read_bytes() != content:
        raise RuntimeError(f"the mirror has another {path} already")


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all, and on the disk."""
    aside = path.with_name(f".{path.name}.new")
    with open(aside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


# --- Reading it after a restore ---------------------------------------------------------------------------------------
def newest_note(epoch: str) -> str:
    """The checkpoint that was mirrored last; raises `LogRefused` without a mirror, `NotMirrored` where it has none."""
    if not settings.LOG_MIRROR:
        raise LogRefused("LOG_MIRROR names no folder")
    return _read(_folder(epoch) / "checkpoint").decode()


def notes_after(size: int, epoch: str) -> list[str]:
    """The checkpoints over more leaves than `size`, the smallest first."""
    folder = _folder(epoch) / "checkpoints"
    sizes = sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())
    return [_read(folder / str(each)).decode() for each in sizes if each > size]


def entries(size: int, epoch: str = "") -> Iterator[bytes]:
    """The leaves of the first `size`, over which a checkpoint was mirrored."""
    for number in range(-(-size // WIDTH)):
        width = tile_width(0, number, size)
        path = _folder(epoch) / tile_path("entries", number, width)
        leaves = list(_unbundled(_read(path)))
        if len(leaves) != width:
            raise LogRefused(f"{path} of the mirror does not hold {width} entries")
        yield from leaves


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotMirrored(f"the mirror has no {path}") from None


def _unbundled(bundle: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(bundle):
        length = int.from_bytes(bundle[at : at + 2], "big")
        yield bundle[at + 2 : at + 2 + length]
        at += 2 + length
