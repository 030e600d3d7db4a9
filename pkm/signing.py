"""The public half of the root that signs a person's approvals: read, made and replaced."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import User
from common.clock import database_now
from pkm import hooks, sealed, signatures
from pkm.errors import ApprovalMismatch, RotationRequired, RotationUnderWay
from pkm.history.events import locked_index, record_root
from pkm.signatures import Jwk
from pkm.vault.checks import checked_root
from pkm.vault.models import IN_USE, VaultKey, VaultStatus
from pkm.vault.queries import not_in_use, vault_keys

ROTATION_TYP = "approval-key-rotation+jwt"
LEEWAY = 300  # seconds that a browser's clock may be off


def root_of(user: User) -> Jwk | None:
    """The public half of the root, or None where the vault has none yet."""
    found = VaultKey.objects.filter(user=user, vault_status__in=IN_USE).values_list("signing_public_key", flat=True)
    return found.first()


def rotations_of(user: User) -> int:
    """How often another root took the place of the one before."""
    found = VaultKey.objects.filter(user=user).values_list("signing_rotations", flat=True)
    return found.first() or 0


@transaction.atomic
def set_signing_key(
    *, by: User, public_key: dict[str, Any], jwe: str, rotation: Sequence[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Keep the first root of a vault, or the one that takes the place of the present; returns `vault_keys`.

    The same again changes nothing. Raises `RotationRequired`, `ApprovalMismatch`, `VaultAbsent`, `RotationUnderWay`.
    """
    locked_index(by)
    vault = VaultKey.objects.filter(user=by, vault_status__in=IN_USE).first()
    if vault is None:
        raise not_in_use(by)
    if vault.vault_status == VaultStatus.ROTATING:
        raise RotationUnderWay("Finish the change of the vault's key, or give it up, first.")
    public = checked_root(public_key, jwe, by=by, key_id=vault.key_id)
    if vault.signing_public_key == public and vault.signing_jwe == jwe:
        return vault_keys(by)
    if vault.signing_public_key is None:
        if rotation is not None:
            raise ApprovalMismatch("There is no root that this could take the place of.", member="rotation")
        change = hooks.RootChange("set", new=signatures.thumbprint(public))
    else:
        change = _replacement(vault, public, rotation, by=by)
        vault.signing_rotations += 1
    vault.signing_public_key, vault.signing_jwe = public, jwe
    vault.save(update_fields=["signing_public_key", "signing_jwe", "signing_rotations", "updated_at"])
    record_root(change, by=by)
    return vault_keys(by)


def _replacement(
    vault: VaultKey, public: signatures.Jwk, rotation: Sequence[dict[str, Any]] | None, *, by: User
) -> hooks.RootChange:
    """The first of `rotation` is of the root itself, its audience the issuer; the others are of the apps' keys."""
    if not rotation:
        raise RotationRequired("Send the `rotation` that the present root and the new one signed.")
    old = signatures.check_public_key(vault.signing_public_key)
    try:
        check_step(
            rotation[0],
            subject=by.public_id,
            audience=settings.ISSUER,
            seq=vault.signing_rotations + 1,
            keys=(old, public),
        )
    except sealed.InvalidHeader as unfit:
        raise ApprovalMismatch(f"The rotation: {unfit}.", member=unfit.member) from None
    if old == public:
        raise ApprovalMismatch("The new root is the present one.", member="new")
    names = {"old": signatures.thumbprint(old), "new": signatures.thumbprint(public)}
    return hooks.RootChange("replaced", **names, rotation=tuple(rotation[1:]))


def check_step(
    signed: object, *, subject: str, audience: str, seq: int, keys: tuple[signatures.Jwk, signatures.Jwk]
) -> None:
    """One step from an old key to a new one, signed by both, and made just now. Raises `InvalidHeader`.

    `subject` is the person as `audience` calls them: for the root itself their own ID, for an app its own.
    """
    claims = signatures.verified_by_both(signed, typ=ROTATION_TYP, keys=keys)
    iat = signatures.number_of(claims, "iat")
    if abs(iat - database_now().timestamp()) > LEEWAY:
        raise sealed.InvalidHeader("is not of these minutes", "iat")
    names = {"iss": settings.ISSUER, "sub": subject, "aud": audience, "seq": seq}
    signatures.check_claims(claims, {**names, "old": keys[0], "new": keys[1], "iat": iat})
