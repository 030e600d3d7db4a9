"""What is done to the log itself: its leaves, tiles, edge and checkpoints."""

import base64

from consent.log import notes
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState
from tests.consent.verification.log_forged import fill, forget_checkpoints, leaves
from tests.consent.verification.table import TREE, row
from tests.consent.verification.world import World

OTHER = b"x" * 32


@row(TREE, "is not the one that entered the log")
def rewrite_leaf(world: World) -> None:
    """Rewrite a leaf of the log."""
    LogLeaf.objects.filter(log_index=1).update(entry_hash=OTHER)


@row(TREE, "not over the leaves that are there")
def rewrite_leaf_and_tree(world: World) -> None:
    """Rewrite a leaf, and make the whole tree fit it."""
    kept = leaves()
    fill([kept[0], (OTHER, None), *kept[2:]])


@row(TREE, "a leaf is missing")
def delete_leaf(world: World) -> None:
    """Delete a leaf."""
    LogLeaf.objects.filter(log_index=1).delete()


@row(TREE, "not over the leaves that are there")
def swap_leaves(world: World) -> None:
    """Swap two leaves, and make the whole tree fit."""
    one, other, *rest = leaves()
    fill([other, one, *rest])


@row(TREE, "not over the leaves that are there")
def insert_leaf(world: World) -> None:
    """Insert a leaf of an entry that never was, and make the whole tree fit."""
    fill([(OTHER, None), *leaves()])


@row(TREE, "of another root")
def rewrite_edge(world: World) -> None:
    """Rewrite the row that says where the log stands."""
    LogState.objects.update(frontier=OTHER * (len(LogState.objects.get().frontier) // len(OTHER)))


@row(TREE, "signed over more leaves than there are")
def cut_log(world: World) -> None:
    """Cut off the log's newest leaves."""
    fill(leaves()[:-2])


@row(TREE, "cut or rolled back")
def cut_log_with_its_checkpoints(world: World) -> None:
    """Cut off the log's newest leaves and every checkpoint over them."""
    fill(leaves()[:-2])
    forget_checkpoints()


@row(TREE, "that were signed is gone")
def forget_newest_checkpoints(world: World) -> None:
    """Delete the newest checkpoints, or all of them."""
    forget_checkpoints()


@row(TREE, "the signer signs for")
def rename_log(world: World) -> None:
    """Say that another log began, by the rows alone."""
    LogState.objects.update(epoch="another")


@row(TREE, "the signature of the checkpoint")
def forge_checkpoint(world: World) -> None:
    """Rewrite a leaf, the tree and the checkpoint over it, with the signature that there was."""
    kept = leaves()
    fill([kept[0], (OTHER, None), *kept[2:]])
    newest, state = AuditCheckpoint.objects.get(), LogState.objects.get()
    root = Frontier.from_bytes(state.size, bytes(state.frontier)).root()
    forged = notes.Checkpoint(notes.Checkpoint.of_note(newest.note).origin, state.size, root)
    _, signatures = newest.note.split("\n\n")
    AuditCheckpoint.objects.update(
        note=f"{forged.text}\n{signatures}", root=base64.urlsafe_b64encode(root).decode().rstrip("=")
    )
