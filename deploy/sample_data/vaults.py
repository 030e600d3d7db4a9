"""The sample owner's vault, sealed with the bridge as their browser would do it."""

from collections.abc import Mapping
from typing import Any

from django.apps import apps

from common.encryption import DecryptionFailed
from consent_bridge import sealed
from consent_bridge.errors import BridgeError
from consent_bridge.wrappers import Kind, VaultKey, possession_digest
from pkm.segments import queries as segment_queries
from pkm.segments.actions import write_segment
from pkm.vault import queries as vault_queries
from pkm.vault.actions import NewWrapper, create_vault

Place = tuple[str, str]  # domain, segment
_LABELS = {"passphrase": "Passphrase", "recovery": "Recovery code"}


class CannotOpenVault(Exception):
    """There is a vault, and the known passphrase does not open it."""


def open_vault(user: Any, passphrase: str) -> VaultKey | None:
    """The key of this person's vault, None where there is no vault; raises `CannotOpenVault`."""
    try:
        vault = vault_queries.vault_keys(user)
    except DecryptionFailed as error:
        raise CannotOpenVault from error
    if vault["vault_status"] == "absent":
        return None
    for wrapper in vault["wrappers"]:
        if wrapper["kind"] == "passphrase":
            try:
                return sealed.unwrap(
                    wrapper["jwe"], "passphrase", passphrase, user_id=user.public_id, key_id=vault["key_id"]
                )
            except BridgeError:
                continue
    raise CannotOpenVault


def make_vault(user: Any, passphrase: str) -> VaultKey:
    """A new vault that the passphrase opens, and a recovery code that is not kept."""
    key = sealed.generate_vault_key()
    secret: dict[Kind, str] = {"passphrase": passphrase, "recovery": sealed.generate_recovery_code()}
    wrappers = [
        NewWrapper(kind=kind, label=_LABELS[kind], jwe=sealed.wrap(key, kind, secret[kind], user.public_id))
        for kind in secret
    ]
    create_vault(by=user, key_id=key.key_id, wrappers=wrappers, possession_sha256=possession_digest(key))
    return key


def write_missing_segments(user: Any, key: VaultKey, content: Mapping[Place, dict[str, Any]]) -> None:
    """Write those segments of `content` that the vault does not hold."""
    stored = segment_queries.current_revisions(user, content)
    for place in content.keys() - stored.keys():
        _write_segment(user, key, place, content[place])


def _write_segment(user: Any, key: VaultKey, place: Place, values: dict[str, Any]) -> None:
    """A deleted segment leaves its last revision behind; the new one continues from there."""
    domain, segment = place
    newest = apps.get_model("pkm.Blob").objects.filter(user=user, domain=domain, segment_id=segment, is_current=True)
    base = newest.values_list("content_revision", flat=True).first() or 0
    header = sealed.SegmentHeader(key.key_id, user.public_id, domain, segment, base + 1)
    write_segment(
        by=user,
        domain=domain,
        segment_id=segment,
        jwe=sealed.seal_segment(values, key.secret, header),
        base_content_revision=base,
        attributes=list(values),
    )
