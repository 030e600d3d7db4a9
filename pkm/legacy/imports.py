"""Importing a file of the old system: in batches, each with its checkpoint in one transaction.

Whenever it is killed, what is in the database is the lines up to the checkpoint, once each; the next run goes on from
there. Memory is that of one batch, whatever the file has.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from pkm.legacy.lines import LONGEST
from pkm.legacy.models import MigrationState, MigrationStatus
from pkm.legacy.rows import keep_lines

BATCH_LINES = 500
BATCH_BYTES = 8 * 1024 * 1024
_NAMED = 12  # line numbers in `last_error`
_BLOCK = 1024 * 1024


class ImportedElsewhere(Exception):
    """Another run imports this file at the same time."""


@dataclass(frozen=True)
class Step:
    """A batch that is committed: how far the file is read, and which of its lines were refused and why."""

    offset: int
    line: int
    counts: dict[str, int]
    refused: list[tuple[int, str]]


Batch = list[tuple[int, bytes]]


def claim(path: Path) -> MigrationState:
    """The state of this file, known by its content: running from its checkpoint, or from the start again."""
    state, _ = MigrationState.objects.get_or_create(
        user=None, source=f"import:{_fingerprint(path)}", defaults=_from_the_start()
    )
    if state.status != MigrationStatus.RUNNING:
        MigrationState.objects.filter(pk=state.pk, status=state.status).update(**_from_the_start(), last_error="")
        state.refresh_from_db()
    return state


def _from_the_start() -> dict[str, object]:
    return {
        "status": MigrationStatus.RUNNING,
        "checkpoint": {"offset": 0, "line": 0, "refused": []},
        "counts": {"imported": 0, "known": 0, "refused": 0},
    }


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def import_batches(path: Path, state: MigrationState, *, lines: int = BATCH_LINES) -> Iterator[Step]:
    """Import what is left of the file, at most so many lines at a time; raises `ImportedElsewhere`."""
    with path.open("rb") as file:
        offset: int = state.checkpoint["offset"]
        line: int = state.checkpoint["line"]
        file.seek(offset)
        while True:
            batch, line_after = _batch(file, line, most=lines)
            if line_after == line:
                break
            yield _keep(state.pk, batch, before=offset, after=file.tell(), line=line_after)
            offset, line = file.tell(), line_after
    _finish(state.pk, before=offset)


@transaction.atomic
def _keep(pk: int, batch: Batch, *, before: int, after: int, line: int) -> Step:
    """The batch and its checkpoint, or neither."""
    state = _locked(pk, before)
    kept = keep_lines(batch)
    numbers = [*state.checkpoint["refused"], *(number for number, _ in kept.refused)][:_NAMED]
    state.checkpoint = {"offset": after, "line": line, "refused": numbers}
    state.counts = {name: state.counts[name] + count for name, count in kept.counts.items()}
    state.save(update_fields=["checkpoint", "counts", "updated_at"])
    return Step(after, line, state.counts, kept.refused)


@transaction.atomic
def _finish(pk: int, *, before: int) -> None:
    state = _locked(pk, before)
    refused = state.counts["refused"]
    state.status = MigrationStatus.FAILED if refused else MigrationStatus.COMPLETED
    if refused:
        numbers = ", ".join(map(str, state.checkpoint["refused"]))
        more = " and more" if refused > len(state.checkpoint["refused"]) else ""
        state.last_error = f"{refused} lines refused: {numbers}{more}"
    state.save(update_fields=["status", "last_error", "updated_at"])


def _locked(pk: int, offset: int) -> MigrationState:
    """Compared with where this run believes it is, so that of two at once the second stops."""
    state = MigrationState.objects.select_for_update().get(pk=pk)
    if state.status != MigrationStatus.RUNNING or state.checkpoint["offset"] != offset:
        raise ImportedElsewhere
    return state


def _batch(file: BinaryIO, line: int, *, most: int) -> tuple[Batch, int]:
    """The next lines with their numbers, blank ones left out, and the number of the last that was read."""
    batch: Batch = []
    size = 0
    while len(batch) < most and size < BATCH_BYTES:
        raw = file.readline(LONGEST + 1)
        if not raw:
            break
        line += 1
        if len(raw) > LONGEST:
            _skip_rest(file, raw)
            raw = b'"too long"'  # no object, so that it is refused like any other line
        if raw.strip():
            batch.append((line, raw))
            size += len(raw)
    return batch, line


def _skip_rest(file: BinaryIO, raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(_BLOCK)
