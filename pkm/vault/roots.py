"""Is this the root of a person's approvals, sealed for their vault: every question that raises its refusal."""

from typing import TYPE_CHECKING

from pkm import sealed, signatures
from pkm.errors import ApprovalMismatch

if TYPE_CHECKING:
    from accounts.models import User


def checked_root(jwk: object, jwe: str, *, by: "User", key_id: str) -> signatures.Jwk:
    """The public half of a root whose sealed secret is for this vault. Raises `ApprovalMismatch`."""
    try:
        public = signatures.check_public_key(jwk, "signing_public_key")
        check_sealed_root(jwe, by=by, key_id=key_id)
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"{unfit}.", member=unfit.member) from None
    return public


def check_sealed_root(jwe: str, *, by: "User", key_id: str) -> None:
    """Raises `ApprovalMismatch`."""
    try:
        sealed.check_root_header(sealed.read_header(jwe), key_id=key_id, user_id=by.public_id)
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"The sealed root: {unfit}.", member=unfit.member or "signing_jwe") from None
