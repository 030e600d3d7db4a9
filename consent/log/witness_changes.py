"""Who watches the log, in the log itself: readers follow to other witnesses by the word of those whom they know.

A deployment that starts with other witnesses than before says so in its own chain. A reader takes them over where as
many of the former ones as had to cosigned a checkpoint that has the entry, and from nobody else: not from a page, and
not from the person.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from django.core.cache import cache
from django.db import transaction

from common.clock import database_now
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.ledger.proofs import as_hashed
from consent.log import keys, notes, published, tree
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState
from consent.states import Actor

KIND = "witnesses"
KEPT_SECONDS = 5  # for which an answer is given again: who waits for a proof costs no search each time
_FIRST = 20  # checkpoints with the entry, any of which will do
_SEARCHED = 20_000  # within which somebody may come back who was away when the others took their place


def record() -> bool:
    """Append an entry unless the newest one names these very witnesses; whether one was appended.

    Raises what a database that is away raises.
    """
    facts = {"witnesses": sorted(str(key) for key in keys.counted_witnesses()), "quorum": keys.quorum()}
    if facts == _named_by(_entries().last()):
        return False
    audit.name_chains([audit.DEPLOYMENT])
    with transaction.atomic():
        audit.lock_heads([audit.DEPLOYMENT])
        if facts == _named_by(_entries().last()):
            return False
        audit.append(chain=audit.DEPLOYMENT, kind=KIND, actor=Actor.SYSTEM.value, at=database_now(), facts=facts)
    return True


_NOBODY: dict[str, Any] = {"witnesses": [], "quorum": 0}


def changes() -> list[dict[str, Any]]:
    """`/log/witnesses`: each entry as it was hashed, and its proof, oldest first.

    `proof` is None until a checkpoint with the entry has the cosignatures of those who counted before it. What is
    answered may be some seconds old, unless the newest checkpoint is another one or has other cosignatures.
    """
    name = _name_of_answer()
    found: list[dict[str, Any]] | None = cache.get(name)
    if found is None:
        found, before = [], _NOBODY
        for entry in _entries():
            found.append({"entry": as_hashed(entry), "proof": _proof(entry, before)})
            before = entry.facts
        cache.set(name, found, KEPT_SECONDS)
    return found


def _name_of_answer() -> str:
    signed = AuditCheckpoint.objects.filter(epoch=published.epoch()).order_by("-size")
    size, cosignatures = signed.values_list("size", "cosignatures").first() or (0, "")
    return f"log-witnesses-{size}-{hashlib.sha256(cosignatures.encode()).hexdigest()}"


def _named_by(entry: AuditEntry | None) -> dict[str, Any]:
    """In one order, whichever it was written in."""
    facts = entry.facts if entry is not None else _NOBODY
    return {**facts, "witnesses": sorted(facts["witnesses"])}


def _entries() -> Any:
    return AuditEntry.objects.of(audit.DEPLOYMENT).filter(kind=KIND).select_related("kept").order_by("sequence")


def _proof(entry: AuditEntry, before: dict[str, Any]) -> str | None:
    index = LogLeaf.objects.filter(entry=entry).values_list("log_index", flat=True).first()
    if index is None:
        return None
    former = [notes.VerifierKey.parse(text, kind=notes.COSIGNATURE) for text in before["witnesses"]]
    gone = [key for key in former if str(key) not in entry.facts["witnesses"]]
    state = LogState.objects.get(pk=1)
    for checkpoint in _candidates(state.epoch, index, gone):
        if sum(published.has_cosigned(key, checkpoint) for key in former) >= before["quorum"]:
            edge = Frontier.from_bytes(state.size, bytes(state.frontier))
            return notes.proof(index, tree.inclusion_proof(index, checkpoint.size, edge), checkpoint.full_note)
    return None


def _candidates(epoch: str, index: int, gone: list[notes.VerifierKey]) -> Iterator[AuditCheckpoint]:
    """Checkpoints with the leaf: the first ones, and those that somebody cosigned who counts no more."""
    after = AuditCheckpoint.objects.filter(epoch=epoch, size__gt=index).order_by("size")
    yield from after[:_FIRST]
    within = after.values("pk")[:_SEARCHED]
    for key in gone:
        yield from AuditCheckpoint.objects.filter(pk__in=within, cosignatures__contains=f" {key.name} ").order_by(
            "size"
        )[:_FIRST]
