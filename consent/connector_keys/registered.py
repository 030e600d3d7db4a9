"""What makes a registered key more than a row, which whoever writes the database could add: a token that only this
server can make, and the entry of the app's chain, once the log has it."""

import json
from datetime import timedelta
from typing import Any

import pkm.sealed
from common import encryption
from common.clock import database_now, rfc3339
from common.jose import from_base64url
from consent.connector_keys.models import USABLE_AFTER, ConnectorKey
from consent.event_types import EventType
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.log import proof_read

PURPOSE = "registered connector key"  # nothing else that is sealed at rest opens as one
_SECOND = timedelta(seconds=1)  # to which an entry's time is cut


def facts_of(key: ConnectorKey) -> dict[str, Any]:
    """What token and entry say of a key; needs its app."""
    return {
        "app_id": key.app.app_id,
        "key_id": key.key_id,
        "thumbprint": key.thumbprint,
        "usable_from": rfc3339(key.usable_from),
    }


def token_of(key: ConnectorKey) -> str:
    """This server's own word that the key was registered so."""
    return encryption.sealed(json.dumps(facts_of(key)), purpose=PURPOSE)


def is_genuine(key: ConnectorKey) -> bool:
    """Whether this server wrote the row, for this app and this very key."""
    try:
        claims = json.loads(encryption.opened(key.token, purpose=PURPOSE))
    except encryption.DecryptionFailed:
        return False
    return bool(claims == facts_of(key) and key.jwk and pkm.sealed.thumbprint(key.jwk) == key.thumbprint)


def is_still_registered(key: ConnectorKey) -> bool:
    """Whether a row is genuine, and by the chain not removed since: for who asks with it before the log proves it."""
    entry = AuditEntry.objects.filter(connector_key=key).first()
    return is_genuine(key) and entry is not None and not _is_removed(entry, key.thumbprint)


def proved_entry(key: ConnectorKey) -> AuditEntry | None:
    """The entry of at least 24 hours ago that says so, where the log proves it and none since says it was removed."""
    entry = AuditEntry.objects.select_related("kept").filter(connector_key=key).first()
    kept = getattr(entry, "kept", None)
    if entry is None or kept is None or entry.kind != EventType.CONNECTOR_KEY_REGISTERED:
        return None
    names = ("chain", "sequence", "prev_hash", "kind", "actor", "at", "facts_hash")
    is_whole = (
        kept.facts == facts_of(key)
        and audit.facts_hash(kept.facts, bytes(kept.salt)) == entry.facts_hash
        and audit.entry_hash(**{name: getattr(entry, name) for name in names}) == entry.entry_hash
    )
    is_old = entry.at <= database_now() - USABLE_AFTER + _SECOND
    return entry if is_whole and is_old and not _is_removed(entry, key.thumbprint) and _is_leaf(entry) else None


def _is_removed(entry: AuditEntry, thumbprint: str) -> bool:
    """By the chain, whatever the row says: whoever writes the database could empty its `removed_at`."""
    later = AuditEntry.objects.filter(chain=entry.chain, sequence__gt=entry.sequence)
    return later.filter(kind=EventType.CONNECTOR_KEY_REMOVED).with_facts(thumbprint=thumbprint).exists()


def _is_leaf(entry: AuditEntry) -> bool:
    """Whether a checkpoint that was signed, and cosigned by enough, covers the entry."""
    return proof_read.find("entry_hash", from_base64url(entry.entry_hash)) is not None
