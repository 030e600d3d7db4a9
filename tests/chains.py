"""The audit's chains by whom they are about."""

from collections.abc import Iterator

from consent.decisions.late_entries import verify_ends
from consent.ledger import verifying
from consent.ledger.models import AuditChain, AuditEntry, Entries
from consent.ledger.pending import verify_pending
from consent.ledger.verifying import Broken
from consent.log.verifying import LogPosition, verify_log_in_parts
from consent.requests.models import ConsentRequest


def entries_about(prefix: str) -> Entries:
    """The entries of all chains whose subject begins so: `person:`, `app:` or one of them."""
    of = AuditChain.objects.filter(subject__startswith=prefix).values("chain")
    entries: Entries = AuditEntry.objects.filter(chain__in=of)
    return entries


def kinds_of(request: ConsentRequest, chain: str) -> list[str]:
    """What a chain says of a request, in its order."""
    entries = entries_about(chain).with_facts(request_id=request.request_id)
    return list(entries.order_by("sequence").values_list("kind", flat=True))


def verify_log(position: LogPosition | None = None) -> Iterator[Broken]:
    """All that the public log is found to lack."""
    for found in verify_log_in_parts(position or LogPosition()):
        yield from found


def holds() -> bool:
    """Whether the chains hold, nothing waits, and no end is in none."""
    return [*verifying.verify(), *verify_pending(), *verify_ends()] == []
