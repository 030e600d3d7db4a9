"""What a person's vault can do, kept in their index row beside what is in it."""

from collections.abc import Iterable

from pkm.history.models import Index
from pkm.vault.models import WrapperKind


def capabilities_of(*, has_vault: bool, kinds: set[str]) -> dict[str, bool]:
    """By the vault and the kinds of its live wrappers. An export is kept up to date by whoever can approve."""
    return {
        "can_approve": has_vault,
        "recovery": WrapperKind.RECOVERY in kinds,
        "passkey": WrapperKind.PASSKEY in kinds,
        "continuous": has_vault,
    }


def rewrite_capabilities(index: Index, kinds: Iterable[str]) -> None:
    """In the transaction that changes an active vault's wrappers, of which `kinds` are those that are left.

    The caller holds the person's index row.
    """
    flags = capabilities_of(has_vault=True, kinds=set(kinds))
    if index.capability_flags != flags:
        index.capability_flags = flags
        index.save(update_fields=["capability_flags", "updated_at"])
