"""The public log in the database against its keys, the signer's memory and the mirror: rolled back, or not?

Where it was, the line says which call of `restore_log` is next. Whether the mirror's leaves continue the database's,
that command finds out itself.
"""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from config.restored.lines import Line, fails, left_out, passes
from consent.errors import LogRefused
from consent.ledger.models import LogQueue
from consent.log import keys, mirror, notes, signer
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogState
from consent.log.sequencing import leaves_between, signs_here

_NEW_EPOCH = "`restore_log --new-epoch NAME`, with a name that no tree had"


def check_checkpoint_signature() -> Iterator[Line]:
    """The newest checkpoint is of the log that BASE_URL names, and a key at hand signed it."""
    state = LogState.objects.get(pk=1)
    newest, origin = _newest_kept(state.epoch), keys.origin(state.epoch)
    if newest is None:
        yield passes("log keys", "no checkpoint was signed yet")
        return
    checkpoint = notes.Checkpoint.of_note(newest.note)
    if checkpoint.origin != origin:
        yield fails(
            "log keys", f"the newest checkpoint is of {checkpoint.origin}, and BASE_URL makes this log {origin}"
        )
    elif not (own := keys.verifier_keys(state.epoch)):
        yield left_out("log keys", "neither LOG_KEYS nor LOG_VERIFIER_KEYS is set here")
    elif not any(notes.is_signed_by(newest.note, key) for key in own):
        yield fails("log keys", f"none of them signed the newest checkpoint, over {newest.size} leaves")
    else:
        yield passes("log keys", f"they signed the newest checkpoint, over {newest.size} leaves")


def check_signer() -> Iterator[Line]:
    """The database has what the signer remembers, at least, and the same."""
    state = LogState.objects.get(pk=1)
    try:
        note = signer.last_note()
    except LogRefused as refused:
        yield fails("signer", str(refused))
        return
    if note is None:
        yield _without_signer(state)
        return
    signed, origin = notes.Checkpoint.of_note(note), keys.origin(state.epoch)
    if signed.origin != origin:
        text = f"it signs for {signed.origin}, and the database is from before that: {origin}; next is {_NEW_EPOCH}"
        yield fails("signer", text)
    elif signed.size > state.size:
        yield fails("signer", _rolled_back("the signer signed", signed.size, state, signed))
    else:
        yield _compared("signer", note, state)


def _without_signer(state: LogState) -> Line:
    if not signs_here():
        return left_out("signer", "its memory is not on this machine: look where the sequencer runs")
    if _newest_kept(state.epoch) is None:
        return passes("signer", "nothing was signed yet")
    text = f"{settings.LOG_SIGNER_FILE} is missing: put it back; where it is lost, next is {_next_call(state, None)}"
    return fails("signer", text)


def check_mirror() -> Iterator[Line]:
    """The database has what was mirrored, at least, and the same."""
    if not settings.LOG_MIRROR:
        yield left_out("mirror", "LOG_MIRROR is not set here: look where the sequencer runs")
        return
    state = LogState.objects.get(pk=1)
    try:
        note = _mirrored(state.epoch)
    except LogRefused as refused:
        is_new = isinstance(refused, mirror.NotMirrored) and _newest_kept(state.epoch) is None
        yield passes("mirror", "nothing was mirrored yet") if is_new else fails("mirror", str(refused))
        return
    mirrored = notes.Checkpoint.of_note(note)
    if mirrored.size > state.size:
        yield fails("mirror", _rolled_back("the mirror has", mirrored.size, state, _signed()))
    else:
        yield _compared("mirror", note, state)


def check_epochs() -> Iterator[Line]:
    """The database knows every tree that the mirror has."""
    state = LogState.objects.get(pk=1)
    known = {state.epoch, *AuditCheckpoint.objects.values_list("epoch", flat=True).distinct()}
    folder = Path(settings.LOG_MIRROR) if settings.LOG_MIRROR else None
    there = {path.parent.name for path in folder.glob("*/checkpoint")} if folder else set()
    for name in sorted(there - known):
        text = f"the mirror has the tree {keys.origin(name)}, begun after this backup; next is {_NEW_EPOCH}"
        yield fails("epochs", text)
    if there <= known:
        waiting = LogQueue.objects.count()
        yield passes("epochs", f"the log is {keys.origin(state.epoch)}; {state.size} leaves, {waiting} entries wait")


def _newest_kept(epoch: str) -> AuditCheckpoint | None:
    return AuditCheckpoint.objects.filter(epoch=epoch).order_by("-size").first()


def _mirrored(epoch: str) -> str:
    """The newest note of the mirror; raises `LogRefused` where there is none, or none of ours."""
    try:
        note = mirror.newest_note(epoch)
        own = any(notes.is_signed_by(note, key) for key in keys.verifier_keys(epoch))
    except ValueError as error:
        raise LogRefused("the mirror's checkpoint is no checkpoint") from error
    if not own:
        raise LogRefused("the mirror's checkpoint is not signed by a key of this log")
    return note


def _signed() -> notes.Checkpoint | None:
    """What the signer remembers; None where that is not here or cannot be read."""
    try:
        note = signer.last_note()
    except LogRefused:
        return None
    return notes.Checkpoint.of_note(note) if note is not None else None


def _rolled_back(who: str, size: int, state: LogState, signed: notes.Checkpoint | None) -> str:
    call = _next_call(state, signed)
    return f"{who} {size} leaves, and the database has {state.size}: it was rolled back; next is {call}"


def _next_call(state: LogState, signed: notes.Checkpoint | None) -> str:
    """From the mirror where that has all that was signed and the database lacks; else a tree of another name."""
    try:
        mirrored = notes.Checkpoint.of_note(_mirrored(state.epoch))
    except LogRefused:
        return _NEW_EPOCH
    if mirrored.size <= state.size or (signed is not None and signed.size > mirrored.size):
        return _NEW_EPOCH
    return "`restore_log --from-mirror`" if signed is not None else "`restore_log --from-mirror --signer-too`"


def _compared(part: str, note: str, state: LogState) -> Line:
    """A note over no more leaves than there are, against what is kept of that size and after it."""
    checkpoint, newest = notes.Checkpoint.of_note(note), _newest_kept(state.epoch)
    if newest is not None and newest.size > checkpoint.size:
        text = f"it is an older copy of {checkpoint.size} leaves: the database has a checkpoint over {newest.size}"
        return fails(part, text)
    if newest is not None and newest.size == checkpoint.size:
        same = notes.Checkpoint.of_note(newest.note) == checkpoint
    else:  # signed, and the database did not keep it: the next signing does
        same = _root_of(checkpoint.size) == checkpoint.root
    if not same:
        return fails(
            part, f"its {checkpoint.size} leaves are others than the database's: compare both; next is {_NEW_EPOCH}"
        )
    return passes(part, f"its {checkpoint.size} leaves are the database's")


def _root_of(size: int) -> bytes:
    """Of the first leaves of the database, read once."""
    frontier, part = Frontier(), []
    for leaf in leaves_between(0, size):
        part.append(leaf)
        if len(part) == 10_000:
            frontier.append(part)
            part = []
    if part:
        frontier.append(part)
    return frontier.root()
