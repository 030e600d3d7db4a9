"""The audit's chains by whom they are about."""

from consent.ledger.models import AuditChain, AuditEntry, Entries


def entries_about(prefix: str) -> Entries:
    """The entries of all chains whose subject begins so: `person:`, `app:` or one of them."""
    of = AuditChain.objects.filter(subject__startswith=prefix).values("chain")
    entries: Entries = AuditEntry.objects.filter(chain__in=of)
    return entries
