"""What a person's erasure leaves in the chains: an entry in each that says which entries lost their facts."""

from common.clock import database_now
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry
from consent.states import Actor


def tell_chains(*, user_id: str, names: set[str]) -> None:
    """Append `erased` to the person's chain and to each app's that tells of them. In the transaction that erases.

    `names` is what apps call them. Its facts name ranges of entries and nobody. What was told already is not told
    again.
    """
    own = audit.person_chain(user_id)
    subjects = [*_own(own), *_apps_that_tell(names)]
    audit.lock_heads(subjects)
    now = database_now()
    for subject in subjects:
        told = AuditEntry.objects.of(subject).order_by("sequence")
        found = told if subject == own else told.filter(kept__about__in=names)
        sequences = list(found.exclude(kind=EventType.ERASED).values_list("sequence", flat=True))
        if sequences:
            facts = {"ranges": ranges_of(sequences)}
            audit.append(chain=subject, kind=EventType.ERASED.value, actor=Actor.SYSTEM.value, at=now, facts=facts)


def _apps_that_tell(names: set[str]) -> list[str]:
    chains = AuditEntry.objects.filter(kept__about__in=names).values("chain")
    apps = AuditChain.objects.filter(chain__in=chains, subject__startswith=audit.app_chain(""))
    return list(apps.order_by("subject").values_list("subject", flat=True))


def ranges_of(sequences: list[int]) -> list[list[int]]:
    """Ascending numbers as [first, last] of each unbroken run."""
    ranges: list[list[int]] = []
    for number in sequences:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def _own(subject: str) -> list[str]:
    """A person to whom nothing ever happened has no chain, and gets none for leaving."""
    return [subject] if audit.chain_id(subject) else []
