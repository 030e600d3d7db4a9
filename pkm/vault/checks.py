"""What a client has to show before a change: that it holds the vault key, and a root sealed for this vault."""

import hashlib
import hmac

from accounts.models import User
from pkm import sealed, signatures
from pkm.errors import ApprovalMismatch, PossessionRequired
from pkm.vault.models import VaultKey


def require_possession(vault: VaultKey, possession: str | None) -> None:
    """Raises `PossessionRequired`. A vault whose client sent no digest has nothing to compare with.

    A client derives 32 bytes from the vault key (HKDF-SHA256, no salt, info `consent-vault-possession`). The SHA-256 of
    their base64url comes with the key; they themselves are sent once, when that key is to be replaced. They give
    nothing of the key away, and nobody has them without one of the person's secrets.
    """
    if not vault.possession_sha256:
        return
    shown = hashlib.sha256((possession or "").encode()).hexdigest()
    if not hmac.compare_digest(shown, vault.possession_sha256):
        raise PossessionRequired()


def checked_root(jwk: object, jwe: str, *, by: User, key_id: str) -> signatures.Jwk:
    """The public half of a root whose sealed secret is for this vault. Raises `ApprovalMismatch`."""
    try:
        public = signatures.check_public_key(jwk, "signing_public_key")
        check_sealed_root(jwe, by=by, key_id=key_id)
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"{unfit}.", member=unfit.member) from None
    return public


def check_sealed_root(jwe: str, *, by: User, key_id: str) -> None:
    """Raises `ApprovalMismatch`."""
    try:
        sealed.check_root_header(sealed.read_header(jwe), key_id=key_id, user_id=by.public_id)
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"The sealed root: {unfit}.", member=unfit.member or "signing_jwe") from None
