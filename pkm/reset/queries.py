"""Whether somebody has given their vault up."""

from typing import TYPE_CHECKING

from pkm.reset.models import VaultReset

if TYPE_CHECKING:
    from accounts.models import User


def waiting_reset(user: "User") -> VaultReset | None:
    """The one that is not carried out yet."""
    return VaultReset.objects.filter(vault__user=user).first()
