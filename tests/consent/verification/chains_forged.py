"""What one who owns the database needs to make a chain flawless again."""

import secrets
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from consent.ledger import audit, receipts
from consent.ledger.models import AuditEntry, AuditFacts, AuditHead, Receipt


def entry_at(chain: str, sequence: int) -> AuditEntry:
    return AuditEntry.objects.select_related("kept").get(chain=chain, sequence=sequence)


def entries_of(chain: str, **which: Any) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(chain=chain, **which).select_related("kept").order_by("sequence")


def entry_about(chain: str, request_id: str, kind: str) -> AuditEntry:
    return entries_of(chain, kind=kind).get(kept__facts__request_id=request_id)


def retell(entry: AuditEntry, **facts: Any) -> None:
    """Let an entry tell something else; nothing is hashed."""
    AuditFacts.objects.filter(entry=entry).update(facts={**entry.facts, **facts})


def drop(entries: QuerySet[AuditEntry]) -> None:
    keys = list(entries.values_list("pk", flat=True))
    AuditFacts.objects.filter(entry__in=keys).delete()
    for key in keys:  # by the database's own means: leaves of the log keep nobody out who has no triggers
        run_sql("DELETE FROM consent_audit WHERE id = %s", key)


def rehash(chain: str, *, resign: bool = False) -> None:
    """Number and hash all that is there, with new salts, and let the head fit; with the receipt key, receipts too.

    The person's chain comes before those of apps: their copies name entries of both.
    """
    sequence, previous = 0, audit.GENESIS
    for sequence, entry in enumerate(entries_of(chain), start=1):
        salt = secrets.token_bytes(32)
        entry.sequence, entry.prev_hash = sequence, previous
        if entry.facts:
            AuditFacts.objects.filter(entry=entry).update(salt=salt)
            entry.facts_hash = audit.facts_hash(entry.facts, salt)
        entry.entry_hash = audit.entry_hash(
            chain=chain, sequence=sequence, prev_hash=previous, kind=entry.kind, actor=entry.actor,
            at=entry.at, facts_hash=entry.facts_hash,
        )  # fmt: skip
        entry.save()
        previous = entry.entry_hash
        if resign and entry.facts.get("receipt_id"):
            sign_again(entry)
    AuditHead.objects.filter(chain=chain).update(sequence=sequence, entry_hash=previous)


def sign_again(entry: AuditEntry, **other: Any) -> None:
    """Sign both copies of an entry's receipt with the receipt key, with `other` claims, of this entry as it stands."""
    kept = Receipt.objects.filter(receipt_id=entry.facts["receipt_id"]).first()
    if kept is None:
        return
    own, of_app = receipts.verified(kept.jws) or {}, receipts.verified(kept.app_jws) or {}
    link = {"chain": entry.chain, "sequence": entry.sequence, "entry_hash": entry.entry_hash}
    is_of_app = entry.chain == of_app["audit"]["chain"]
    made = receipts.signed(
        claims={**own, **other},
        request_pk=kept.request_id,
        entry=own["audit"] if is_of_app else link,
        app_entry=link if is_of_app else of_app["audit"],
        at=kept.created_at,
    )
    Receipt.objects.filter(pk=kept.pk).update(**texts_of(made))


def texts_of(receipt: Receipt) -> dict[str, str]:
    """What was signed, and both signatures."""
    return {name: getattr(receipt, name) for name in ("claims", "audit", "app_audit", "signature", "app_signature")}


def run_sql(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
