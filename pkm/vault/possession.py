"""Proof that a client holds the vault key, which the server never has.

A client derives 32 bytes from the vault key (HKDF-SHA256, no salt, info `consent-vault-possession`). The SHA-256 of
their base64url comes with the key; they themselves are told once, when that key is to be replaced. They give nothing of
the key away, and nobody has them without one of the person's secrets.
"""

import hashlib
import hmac

from pkm.errors import PossessionRequired
from pkm.vault.models import VaultKey


def require_possession(vault: VaultKey, possession: str | None) -> None:
    """Raises `PossessionRequired`. A vault whose client told no digest has nothing to compare with."""
    if not vault.possession_sha256:
        return
    shown = hashlib.sha256((possession or "").encode()).hexdigest()
    if not hmac.compare_digest(shown, vault.possession_sha256):
        raise PossessionRequired
