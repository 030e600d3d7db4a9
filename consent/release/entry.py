"""The release in the public log: a deployment that starts on another release than before says so in its own chain."""

from typing import Any

from django.db import transaction

from common.clock import database_now
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.ledger.proofs import as_hashed
from consent.log import published
from consent.release.manifest import Release
from consent.states import Actor

KIND = "release"


def record(release: Release) -> bool:
    """Append an entry unless the newest one names this very manifest; whether one was appended.

    Raises what a database that is away raises.
    """
    audit.name_chains([audit.DEPLOYMENT])
    with transaction.atomic():
        audit.lock_heads([audit.DEPLOYMENT])
        newest = _newest()
        if newest is not None and newest.facts.get("manifest_sha256") == release.sha256:
            return False
        facts = {"version": release.version, "commit": release.commit, "manifest_sha256": release.sha256}
        audit.append(chain=audit.DEPLOYMENT, kind=KIND, actor=Actor.SYSTEM.value, at=database_now(), facts=facts)
    return True


def document(release: Release) -> dict[str, Any]:
    """`/.well-known/consent-release.json`: the manifest as it was signed, and the entry and proof of the log.

    `entry` is None until this release was entered, `proof` until its entry is in the log and cosigned.
    """
    entry = _newest()
    if entry is not None and entry.facts.get("manifest_sha256") != release.sha256:
        entry = None  # another process serves another release, and began later
    return {
        "version": release.version,
        "commit": release.commit,
        "manifest_sha256": release.sha256,
        "note": release.note,
        "entry": as_hashed(entry) if entry is not None else None,
        "proof": published.proof_of_entry(entry.pk) if entry is not None else None,
    }


def _newest() -> AuditEntry | None:
    entries = AuditEntry.objects.of(audit.DEPLOYMENT).filter(kind=KIND).select_related("kept")
    return entries.order_by("-sequence").first()
