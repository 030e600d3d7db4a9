"""What whoever checks a history or a receipt needs of the entries."""

from typing import Any

from accounts.models import User
from common.clock import rfc3339
from common.jose import base64url
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditFacts, AuditHead

_PAGE = 500


def chain_of(*, user: User, after: int) -> dict[str, Any]:
    """The entries of this person's chain after a sequence, as they were hashed, and where the chain stands.

    {"head": {"chain", "sequence", "entry_hash"}, "entries": [members of the hash, facts, their salt, and the hash]}; at
    most 500 entries a page.
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
        "entries": [as_hashed(entry) for entry in entries[:_PAGE]],
    }


def as_hashed(entry: AuditEntry) -> dict[str, Any]:
    """An entry with all that its hashes are over."""
    kept: AuditFacts | None = getattr(entry, "kept", None)
    return {
        "v": audit.VERSION,
        "chain": entry.chain,
        "sequence": entry.sequence,
        "prev_hash": entry.prev_hash,
        "entry_hash": entry.entry_hash,
        "kind": entry.kind,
        "actor": entry.actor,
        "at": rfc3339(entry.at),
        "facts": entry.facts,
        "facts_hash": entry.facts_hash,
        "salt": base64url(kept.salt) if kept else "",
    }
