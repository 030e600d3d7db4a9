"""Taking entries into the log, and having its checkpoints signed.

What it costs grows with the batch and the depth of the tree, never with people. The lock of the one row of
`consent_log_state` fences: a second sequencer waits for it and goes on from there, and one that lost its connection
has written nothing.
"""

from collections.abc import Iterator

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from common.batches import in_pages
from common.clock import database_now
from common.jose import base64url, from_base64url
from common.metrics import HEARTBEATS
from consent.ledger.models import LogQueue
from consent.log import keys, mirror, signer
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile

BATCH = 5_000  # entries a transaction


def is_due() -> bool:
    """Whether whoever holds the log's keys has entries to take in, or a size to sign."""
    signed = AuditCheckpoint.objects.filter(epoch=OuterRef("epoch"), size=OuterRef("size"))
    unsigned = LogState.objects.filter(pk=1, size__gt=0).exclude(Exists(signed))
    return LogQueue.objects.exists() or unsigned.exists()


def sequence_and_sign() -> int:
    """Take all that waits, and sign where the log stands; returns how many entries were taken."""
    state = LogState.objects.get(pk=1)
    signer.require_not_ahead(origin=keys.origin(state.epoch), size=state.size)
    taken = 0
    while count := sequence_batch():
        taken += count
    sign_checkpoint()
    HEARTBEATS.labels("sequencer").set_to_current_time()
    return taken


def sequence_batch() -> int:
    """Take the oldest entries that wait, in one transaction; returns how many."""
    with transaction.atomic():
        state = locked_state()
        queued = list(LogQueue.objects.order_by("pk").values_list("pk", "entry__entry_hash")[:BATCH])
        if queued:
            # an app and a person get their entries of one event together: neighbours must not tell which belong so
            append(state, sorted((from_base64url(digest), pk) for pk, digest in queued))
            LogQueue.objects.filter(pk__in=[pk for pk, _ in queued]).delete()
    return len(queued)


def append(state: LogState, entries: list[tuple[bytes, int | None]]) -> None:
    """Write these (hash, entry) as the next leaves, with the tiles that they fill. The state's row is locked."""
    frontier = Frontier.from_bytes(state.size, bytes(state.frontier))
    LogLeaf.objects.bulk_create(
        (
            LogLeaf(log_index=index, entry_id=pk, entry_hash=digest)
            for index, (digest, pk) in enumerate(entries, start=state.size)
        ),
        batch_size=2_000,
    )
    filled = frontier.append([digest for digest, _ in entries])
    LogTile.objects.bulk_create(LogTile(level=tile.level, number=tile.number, hashes=tile.hashes) for tile in filled)
    state.size, state.frontier, state.at = frontier.size, frontier.to_bytes(), database_now()
    state.save(update_fields=["size", "frontier", "at"])


def locked_state() -> LogState:
    """The one row, locked until the transaction ends."""
    return LogState.objects.select_for_update().get(pk=1)


def leaves_between(start: int, end: int) -> Iterator[bytes]:
    """The leaves from one log index up to another, in order."""
    rows = LogLeaf.objects.filter(log_index__gte=start, log_index__lt=end).values_list("log_index", "entry_hash")
    for page in in_pages(rows, "log_index", size=10_000):
        yield from (bytes(entry_hash) for _, entry_hash in page)


def sign_checkpoint() -> AuditCheckpoint | None:
    """Have the newest size signed, mirrored and kept; None where it is already, or there is nothing to sign.

    The row of the state stays locked: two sequencers ask the signer one after the other. What was signed and could not
    be kept is signed again the next time, the very same.
    """
    with transaction.atomic():
        state = locked_state()
        kept = AuditCheckpoint.objects.filter(epoch=state.epoch).order_by("-size").first()
        if not state.size or (kept is not None and kept.size == state.size):
            return None
        frontier = Frontier.from_bytes(state.size, bytes(state.frontier))
        note = signer.sign(
            origin=keys.origin(state.epoch),
            size=state.size,
            root=frontier.root(),
            leaves=leaves_between,
            first=not kept,
        )
        HEARTBEATS.labels("signer").set_to_current_time()
        mirror.write(note, epoch=state.epoch, since=kept.size if kept else 0, frontier=frontier)
        return keep_checkpoint(state, frontier, note)


def keep_checkpoint(state: LogState, frontier: Frontier, note: str) -> AuditCheckpoint:
    """The row of a note that was signed; where nobody has to cosign, it is complete at once. The state is locked."""
    now = database_now()
    root = base64url(frontier.root())
    state.signed += 1
    state.save(update_fields=["signed"])
    return AuditCheckpoint.objects.create(
        number=state.signed,
        epoch=state.epoch,
        size=frontier.size,
        root=root,
        note=note,
        at=now,
        cosigned_at=None if keys.quorum() else now,
    )


def signs_here() -> bool:
    """Whether this process sequences: it holds the keys of the log."""
    return bool(settings.LOG_KEYS)
