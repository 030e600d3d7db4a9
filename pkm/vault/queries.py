"""What may be known of somebody's vault and the ways into it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from common import encryption
from common.clock import rfc3339
from pkm.vault.models import KeyWrapper, VaultKey

if TYPE_CHECKING:
    from accounts.models import User


RESTORABLE_FOR = timedelta(days=7)


def vault_keys(user: "User") -> dict[str, Any]:
    """Contract §2, `GET /vault/keys`; two queries. Without a vault the status is `absent` and the rest empty."""
    vault = VaultKey.objects.filter(user=user).first()
    wrappers = KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk") if vault else []
    return {
        "user_id": user.public_id,
        "key_id": vault.key_id if vault else None,
        "vault_status": vault.vault_status if vault else "absent",
        "primary_wrapper_id": vault.primary_wrapper_id if vault else None,
        "wrappers": [wrapper_body(wrapper) for wrapper in wrappers],
    }


def wrapper_body(wrapper: KeyWrapper) -> dict[str, Any]:
    """One wrapper as its owner gets it; `jwe` without the server's own layer."""
    return {
        "wrapper_id": wrapper.wrapper_id,
        "kind": wrapper.kind,
        "label": wrapper.label,
        "credential_id": wrapper.credential_id or None,
        "jwe": encryption.opened(wrapper.jwe),
        "created_at": rfc3339(wrapper.created_at),
        "last_used_at": rfc3339(wrapper.last_used_at),
    }


def restorable_since() -> datetime:
    """A wrapper that was removed after this moment can be put back, so that a stolen session locks nobody out."""
    return timezone.now() - RESTORABLE_FOR


def removed_wrappers(user: "User") -> list[dict[str, Any]]:
    """The wrappers that can still be restored, without their sealed text; newest removal first."""
    rows = KeyWrapper.objects.filter(user=user, removed_at__gt=restorable_since()).order_by("-removed_at")
    return [
        {
            "wrapper_id": row.wrapper_id,
            "kind": row.kind,
            "label": row.label,
            "removed_at": rfc3339(row.removed_at),
        }
        for row in rows
    ]
