"""What a person's own browser needs to check their history."""

from typing import TYPE_CHECKING, Any

from common.clock import rfc3339
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditHead, CheckpointHead

if TYPE_CHECKING:
    from accounts.models import User

_PAGE = 500
MEMBERS = ("chain", "sequence", "prev_hash", "entry_hash", "kind", "actor", "at", "facts")


def chain_of(*, user: "User", after: int) -> dict[str, Any]:
    """The entries of this person's chain after a sequence, as they were hashed, and where the chain stands.

    {"head": {"sequence", "entry_hash"}, "checkpoint": {"sequence", "entry_hash", "root", "jws"} of the newest one that
    the chain moved for, or None, "entries": [members of the hash, and the hash]}; at most 500 entries a page.
    """
    chain = audit.person_chain(user.public_id)
    head = AuditHead.objects.filter(chain=chain).first()
    entries = AuditEntry.objects.filter(chain=chain, sequence__gt=after).order_by("sequence").values(*MEMBERS)[:_PAGE]
    return {
        "head": {"sequence": head.sequence if head else 0, "entry_hash": head.entry_hash if head else ""},
        "checkpoint": _checkpoint(chain),
        "entries": [{**entry, "at": rfc3339(entry["at"])} for entry in entries],
    }


def _checkpoint(chain: str) -> dict[str, Any] | None:
    found = CheckpointHead.objects.filter(chain=chain).select_related("checkpoint").order_by("-checkpoint_id").first()
    if found is None:
        return None
    signed = found.checkpoint
    return {"sequence": found.sequence, "entry_hash": found.entry_hash, "root": signed.root, "jws": signed.jws}
