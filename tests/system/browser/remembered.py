"""What a vault remembers of its own approvals, as a browser would have written it."""

import json
from typing import Any

from consent.requests.models import ConsentRequest
from consent_bridge.encoding import decode_base64url
from consent_bridge.records import Approved, Records, with_record
from consent_bridge.signatures import sha256
from pkm.notes import VaultNotes
from tests.factories import Vault
from tests.pkm.sealed_notes import opened_notes, sealed_notes


def notes_of(vault: Vault) -> dict[str, Any]:
    """What lies in the notes now."""
    kept = VaultNotes.objects.filter(user=vault.user).first()
    return {} if kept is None else opened_notes(kept.jwe, vault.key.secret)


def write_notes(vault: Vault, notes: dict[str, Any]) -> None:
    """As the next revision."""
    kept = VaultNotes.objects.filter(user=vault.user).first()
    revision = 1 if kept is None else kept.revision + 1
    jwe = sealed_notes(vault, revision, notes)
    VaultNotes.objects.update_or_create(user=vault.user, defaults={"revision": revision, "jwe": jwe})


def remember(vault: Vault, consent_request: ConsentRequest, approval: str) -> None:
    """The record of this approval, beside what the notes have."""
    claims = json.loads(decode_base64url(approval.split(".")[1], "the claims"))
    approved = Approved(tuple(claims["approved_attributes"]), claims["ends_at"], claims["revision"], sha256(approval))
    notes = notes_of(vault)
    request = {
        "user_id": consent_request.pairwise_id,
        "app_id": consent_request.app.app_id,
        "connector_thumbprint": consent_request.connector_thumbprint,
        "attributes": consent_request.attributes,
        "required_attributes": consent_request.required_attributes,
        "optional_attributes": consent_request.optional_attributes,
    }
    records = with_record(notes.get("approvals"), request, consent_request.request_digest, approved, claims["iat"])
    write_notes(vault, {**notes, "approvals": records})


def records_of(vault: Vault, consent_request: ConsentRequest) -> Records:
    """Those of the app's key, by digest."""
    app = notes_of(vault).get("approvals", {}).get(consent_request.app.app_id, {})
    found: Records = app.get("keys", {}).get(consent_request.connector_thumbprint, {})
    return found
