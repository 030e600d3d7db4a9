"""What one who owns the database needs to make the log flawless again, without its key or with it."""

import base64

from consent.ledger.models import AuditEntry, LogQueue
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import append, locked_state


def build_again() -> None:
    """A tree over the entries that are there now, in their order, and nothing that waits; checkpoints stay."""
    LogQueue.objects.all().delete()
    entries = [(base64.urlsafe_b64decode(f"{each.entry_hash}="), each.pk) for each in AuditEntry.objects.order_by("pk")]
    fill(entries)


def fill(entries: list[tuple[bytes, int | None]]) -> None:
    """The log has these (hash, entry) and no other leaves."""
    LogLeaf.objects.all().delete()
    LogTile.objects.all().delete()
    LogState.objects.update(size=0, frontier=Frontier().to_bytes())
    append(locked_state(), entries)


def leaves() -> list[tuple[bytes, int | None]]:
    """(hash, entry) of every leaf, in order."""
    kept = LogLeaf.objects.order_by("log_index").values_list("entry_hash", "entry_id")
    return [(bytes(entry_hash), pk) for entry_hash, pk in kept]


def forget_checkpoints() -> None:
    AuditCheckpoint.objects.all().delete()


def begin_to_count_anew() -> None:
    """Say that nothing was ever signed."""
    LogState.objects.update(signed=0)
