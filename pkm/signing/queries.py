"""Whom a person's approvals are signed by."""

from typing import TYPE_CHECKING

from pkm.signatures import Jwk
from pkm.vault.models import IN_USE, VaultKey

if TYPE_CHECKING:
    from accounts.models import User


def root_of(user: "User") -> Jwk | None:
    """The public half of the root, or None where the vault has none yet."""
    found = VaultKey.objects.filter(user=user, vault_status__in=IN_USE).values_list("signing_public_key", flat=True)
    return found.first()


def rotations_of(user: "User") -> int:
    """How often another root took the place of the one before."""
    found = VaultKey.objects.filter(user=user).values_list("signing_rotations", flat=True)
    return found.first() or 0
