"""A receipt with the entry of its event and the proof that the log has it."""

from typing import Any

from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.ledger.proofs import as_hashed
from consent.log import published


def proof_for_app(*, app_id: str, claims: dict[str, Any]) -> dict[str, Any] | None:
    """{"entry", "proof"} of the app's copy of a receipt; None until the entry is in the log and cosigned."""
    entry = _entry_of(audit.app_chain(app_id), claims)
    proof = published.proof_of_entry(entry.pk) if entry is not None else None
    return None if entry is None or proof is None else {"entry": as_hashed(entry), "proof": proof}


def _entry_of(subject: str, claims: dict[str, Any]) -> AuditEntry | None:
    """The event's entry in this chain: the one that the copy names, or, where it names none, the one that names it."""
    entries = AuditEntry.objects.of(subject).select_related("kept")
    sequence = claims["audit"].get("sequence")
    if sequence is not None:
        return entries.filter(sequence=sequence).first()
    told = entries.filter(kind=claims["event"]["type"]).telling(receipt_id=claims["receipt_id"])
    return told.first()
