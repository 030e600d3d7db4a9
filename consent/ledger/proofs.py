"""What a person's own browser needs to check their history."""

import base64
from typing import TYPE_CHECKING, Any

from common.clock import rfc3339
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditFacts, AuditHead, CheckpointHead

if TYPE_CHECKING:
    from accounts.models import User

_PAGE = 500


def chain_of(*, user: "User", after: int) -> dict[str, Any]:
    """The entries of this person's chain after a sequence, as they were hashed, and where the chain stands.

    {"head": {"chain", "sequence", "entry_hash"}, "checkpoint": {"sequence", "entry_hash", "root", "jws"} of the newest
    one that the chain moved for, or None, "entries": [members of the hash, facts, their salt, and the hash]}; at most
    500 entries a page.
    """
    chain = audit.chain_id(audit.person_chain(user.public_id)) or ""  # it begins with its first entry
    head = AuditHead.objects.filter(chain=chain).first()
    entries = AuditEntry.objects.filter(chain=chain, sequence__gt=after).select_related("kept").order_by("sequence")
    return {
        "head": {
            "chain": chain,
            "sequence": head.sequence if head else 0,
            "entry_hash": head.entry_hash if head else "",
        },
        "checkpoint": _checkpoint(chain),
        "entries": [_as_hashed(entry) for entry in entries[:_PAGE]],
    }


def _as_hashed(entry: AuditEntry) -> dict[str, Any]:
    kept: AuditFacts | None = getattr(entry, "kept", None)
    return {
        "v": entry.version,
        "chain": entry.chain,
        "sequence": entry.sequence,
        "prev_hash": entry.prev_hash,
        "entry_hash": entry.entry_hash,
        "kind": entry.kind,
        "actor": entry.actor,
        "at": rfc3339(entry.at),
        "facts": entry.facts,
        "facts_hash": entry.facts_hash,
        "salt": base64.urlsafe_b64encode(kept.salt).decode().rstrip("=") if kept else "",
    }


def _checkpoint(chain: str) -> dict[str, Any] | None:
    found = CheckpointHead.objects.filter(chain=chain).select_related("checkpoint").order_by("-checkpoint_id").first()
    if found is None:
        return None
    signed = found.checkpoint
    return {"sequence": found.sequence, "entry_hash": found.entry_hash, "root": signed.root, "jws": signed.jws}
