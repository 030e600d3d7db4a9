"""How far the change of a vault's key is, and what it has sealed so far; all of it for its owner alone."""

import hashlib
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from common.clock import rfc3339
from common.problems import NotFound
from pkm.errors import UnknownRotation
from pkm.segments.models import Blob
from pkm.vault.models import VaultKey, VaultStatus
from pkm.vault.queries import rotation_progress, wrapper_body


def rotation(user: User) -> dict[str, Any]:
    """What another device needs to go on; four queries. Raises `UnknownRotation`.

    {"key_id", "started_at", "done", "total", "wrappers": those of the key to come, as in `GET /vault/keys`,
    "segments": [{"domain", "segment_id", "content_revision", "resealed": bool}]}.
    """
    vault = rotating_vault(user)
    rows = current_segments(user).values_list("domain", "segment_id", "content_revision", "resealed_sha256")
    return {
        **(rotation_progress(user, vault) or {}),
        "started_at": rfc3339(vault.rotation_started_at),
        "wrappers": [wrapper_body(wrapper) for wrapper in vault.rotation_wrappers.order_by("pk")],
        "segments": [
            {"domain": domain, "segment_id": segment, "content_revision": revision, "resealed": bool(mark)}
            for domain, segment, revision, mark in rows.order_by("domain", "segment_id")
        ],
    }


def resealed_segment(user: User, *, domain: str, segment_id: str) -> dict[str, Any]:
    """What was re-sealed of the segment as it is now, to be read back. Raises `UnknownRotation`, `NotFound`."""
    rotating_vault(user)
    resealed = current_segments(user).filter(domain=domain, segment_id=segment_id, resealed__isnull=False)
    blob = resealed.defer("ciphertext").first()
    if blob is None or blob.resealed is None:
        raise NotFound(f"Nothing is re-sealed of {domain[:64]}.{segment_id[:64]} as it is now.")
    return {
        "domain": blob.domain,
        "segment_id": blob.segment_id,
        "content_revision": blob.content_revision,
        "jwe": blob.resealed,
        "size_bytes": len(blob.resealed),
    }


def rotating_vault(user: User) -> VaultKey:
    """Raises `UnknownRotation`."""
    vault = VaultKey.objects.filter(user=user, vault_status=VaultStatus.ROTATING).first()
    if vault is None:
        raise UnknownRotation("The key of your vault is not being changed.")
    return vault


def current_segments(user: User) -> QuerySet[Blob]:
    return Blob.objects.filter(user=user, is_current=True, ciphertext__isnull=False)


def read_back_mark(rows: Iterable[tuple[str, str, int, str]]) -> str:
    """What a browser has read back, in one value: the SHA-256 (hex) of a line for each segment, sorted.

    A row is domain, segment, content revision and the SHA-256 of what is re-sealed; its line joins them by dots.
    """
    lines = sorted(".".join(map(str, row)) for row in rows)
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
