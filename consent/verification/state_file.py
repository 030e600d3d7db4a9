"""Where a run stands, in a file outside the database: who owns that cannot tell the next run to skip a page."""

import json
import os
import tempfile
from pathlib import Path

from consent.verification.run import Position

VERSION = 2


class NotOurs(Exception):
    """The file is no state of this program."""


def read(path: Path, *, only: str) -> Position | None:
    """None where there is none yet, and for one of a version before, whose run begins anew.

    Raises `NotOurs`, also where it is of another chain than `only`.
    """
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if (version := int(kept.pop("version"))) < VERSION:
            return None
        if version > VERSION:
            raise NotOurs
        position = Position.from_json(kept)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotOurs from error
    if position.only != only:
        raise NotOurs
    return position


def write(path: Path, position: Position) -> None:
    """The old state or the new one stands there, whenever this is killed."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False, encoding="utf-8") as file:
        json.dump({"version": VERSION, **position.as_json()}, file)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
