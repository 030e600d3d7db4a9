"""What of the log is shown: checkpoints with the cosignatures that they got, and proofs against them."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from common.clock import database_now, rfc3339
from consent.ledger import audit, receipts
from consent.ledger.models import AuditEntry
from consent.ledger.proofs import as_hashed
from consent.log import keys, notes, proof_read, tree
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogState

JWS_TYPE = "consent-checkpoint+jwt"
CONFIRMED_FOR = timedelta(days=1)  # readers take a cosignature for fresh as long (bridge-js/src/formats/trust.js)
PATIENCE = timedelta(seconds=10)  # how long a checkpoint waits for its witnesses before it is published without them


def newest_published() -> AuditCheckpoint | None:
    """The largest checkpoint that is cosigned, or that has waited long enough for it; it never gets smaller."""
    ready = Q(cosigned_at__isnull=False) | Q(at__lte=database_now() - PATIENCE)
    return _of_this_epoch().filter(ready).order_by("-size").first()


def newest_signed_size() -> int:
    """How far tiles are published: what was signed and waits for witnesses can be fetched by them."""
    return _of_this_epoch().order_by("-size").values_list("size", flat=True).first() or 0


def _of_this_epoch() -> QuerySet[AuditCheckpoint]:
    return AuditCheckpoint.objects.filter(epoch=epoch())


def epoch() -> str:
    """The tree that grows: empty, or the name of one that a restore began."""
    return LogState.objects.values_list("epoch", flat=True).get(pk=1)


def document(checkpoint: AuditCheckpoint) -> dict[str, Any]:
    """`/.well-known/consent-checkpoint.json`; `jws` and `claims` are deprecated, and go with the next release."""
    tree_head = notes.Checkpoint.of_note(checkpoint.note)
    claims = {
        "iss": settings.ISSUER,
        "iat": int(checkpoint.at.timestamp()),
        "at": rfc3339(checkpoint.at),
        "root": checkpoint.root,
        "entries": checkpoint.size,
    }
    return {
        "origin": tree_head.origin,
        "size": tree_head.size,
        "root": notes.base64_of(tree_head.root),
        "note": checkpoint.full_note,
        "at": rfc3339(checkpoint.at),
        "cosignatures_missing": missing_witnesses(checkpoint),
        "jws": receipts.sign(claims, JWS_TYPE),
        "claims": claims,
    }


def missing_witnesses(checkpoint: AuditCheckpoint) -> list[str]:
    """The names of the witnesses that have not cosigned this checkpoint, of those that count."""
    return [key.name for key in keys.counted_witnesses() if not has_cosigned(key, checkpoint)]


def has_cosigned(witness: notes.VerifierKey, checkpoint: AuditCheckpoint) -> bool:
    return notes.cosignature_line(checkpoint.note, checkpoint.cosignatures, witness) is not None


def is_confirmed() -> bool:
    """Whether as many witnesses as must cosigned a checkpoint of the last day; False where the log has none."""
    since = database_now() - CONFIRMED_FOR
    return bool(keys.quorum()) and _of_this_epoch().filter(cosigned_at__gte=since).exists()


def proof_of(entry_hash: bytes) -> str | None:
    """The tlog-proof of the leaf that an entry is, against the first checkpoint with the cosignatures required.

    It is always the same once it is there. None until the entry is in the log and enough witnesses saw it.
    """
    return _proof("entry_hash", entry_hash)


def proof_of_entry(entry_pk: int) -> str | None:
    """Likewise, by the key of the entry."""
    return _proof("entry", entry_pk)


def _proof(by: str, value: Any) -> str | None:
    found = proof_read.find(by, value)
    if found is None:
        return None
    index, frontier = found["log_index"], Frontier.from_bytes(found["size"], bytes(found["frontier"]))
    hashes = tree.inclusion_proof(index, found["proved_by"], frontier)
    return notes.proof(index, hashes, found["note"] + found["cosignatures"])


def proof_for_app(*, app_id: str, claims: dict[str, Any]) -> dict[str, Any] | None:
    """{"entry", "proof"} of the app's copy of a receipt; None until the entry is in the log and cosigned."""
    entry = _entry_of(audit.app_chain(app_id), claims)
    proof = proof_of_entry(entry.pk) if entry is not None else None
    return None if entry is None or proof is None else {"entry": as_hashed(entry), "proof": proof}


def _entry_of(subject: str, claims: dict[str, Any]) -> AuditEntry | None:
    """The event's entry in this chain: the one that the copy names, or, where it names none, the one that names it."""
    entries = AuditEntry.objects.of(subject).select_related("kept")
    sequence = claims["audit"].get("sequence")
    if sequence is not None:
        return entries.filter(sequence=sequence).first()
    naming = entries.filter(kind=claims["event"]["type"]).with_facts(receipt_id=claims["receipt_id"])
    return naming.first()
