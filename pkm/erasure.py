"""What becomes of a vault when its person leaves (accounts/hooks.py)."""

# ruff: noqa: S608  # the statements are of our own names
from typing import Any

from django.utils.translation import gettext as _

from accounts.hooks import RoomErasure
from accounts.models import User
from common import encryption
from common.sql.erasing import PersonalRows
from common.text import StrOrPromise
from pkm.history.models import Event, Index
from pkm.legacy.models import LegacyBlob, MigrationState
from pkm.registry.models import HiddenScope
from pkm.rules import RULES
from pkm.segments.models import Blob, ManifestPath
from pkm.vault.models import KeyWrapper, VaultKey

_VAULT = "(SELECT id FROM vault_keys WHERE user_id = :person)"
_OF_A_VAULT = ("vault_rotation_wrappers", "vault_resets")
_MANIFESTS = "(SELECT id FROM pkm_manifests WHERE user_id = :person)"
# wrappers first: from then on nobody can open what is still there
_TABLES = (
    "vault_key_wrappers", "vault_notes", "vault_keys", "pkm_blobs", "pkm_manifests", "pkm_index", "hidden_scopes",
    "pkm_events", "legacy_encrypted_blobs", "legacy_metadata_index", "pkm_migration_state",
)  # fmt: skip

ROWS = PersonalRows(
    name="erase_vault_rows",
    rules=tuple(rule for rule in RULES if rule.erasable),
    unsampled={
        "hidden_scopes": ("scope",),
        "legacy_encrypted_blobs": ("domain", "jwe"),
        "legacy_metadata_index": ("domain", "summary"),
        "pkm_blobs": ("ciphertext", "resealed"),
        "pkm_events": ("facts",),
        "pkm_index": ("summary_projection",),
        "pkm_manifest_paths": ("path",),
        "pkm_migration_state": ("checkpoint",),
        "vault_key_wrappers": ("label", "jwe"),
        "vault_notes": ("jwe", "resealed"),
        "vault_rotation_wrappers": ("label", "jwe"),
    },
    statements=(
        f"DELETE FROM pkm_manifest_paths WHERE manifest_id IN {_MANIFESTS}",
        *(f"DELETE FROM {table} WHERE vault_id IN {_VAULT}" for table in _OF_A_VAULT),
        *(f"DELETE FROM {table} WHERE user_id = :person" for table in _TABLES),
    ),
)


def outcomes(user: User) -> list[StrOrPromise]:
    """What the page tells before anybody confirms."""
    if not VaultKey.objects.filter(user=user).exists():
        return []
    return [_("Your vault is destroyed, with every key to it. Nobody can bring it back, not even we.")]


def export(user: User) -> dict[str, Any]:
    """Names in clear, and everything sealed as it is sealed; wrappers without the server's own layer."""
    wrappers = KeyWrapper.objects.filter(user=user).order_by("pk")
    paths = ManifestPath.objects.filter(manifest__user=user, manifest__is_current=True).order_by("path")
    return {
        "index": list(Index.objects.filter(user=user).values("available_domains", "summary_projection")),
        "attributes": list(paths.values_list("path", flat=True)),
        "hidden_scopes": list(HiddenScope.objects.filter(user=user).values_list("scope", flat=True)),
        "vault_events": list(Event.objects.filter(user=user).order_by("sequence").values("kind", "facts", "at")),
        "sealed_segments": list(
            Blob.objects.filter(user=user)
            .order_by("pk")
            .values("domain", "segment_id", "content_revision", "ciphertext")
        ),
        "ways_in": [
            {"wrapper_id": row.wrapper_id, "kind": row.kind, "label": row.label, "jwe": encryption.opened(row.jwe)}
            for row in wrappers
            if row.jwe
        ],
        "old_data": [
            {"domain": row.domain, "jwe": encryption.opened(row.jwe)} for row in LegacyBlob.objects.filter(user=user)
        ],
        "migration": list(MigrationState.objects.filter(user=user).values("source", "status", "counts")),
    }


ROOM = RoomErasure(
    name="vault",
    order=10,
    rows=ROWS,
    tables=dict.fromkeys((*_TABLES, *_OF_A_VAULT, "pkm_manifest_paths"), "destroyed"),
    outcomes=outcomes,
    export=export,
)
