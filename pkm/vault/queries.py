"""What may be known of somebody's vault and the ways into it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import User
from common import encryption
from common.clock import rfc3339
from common.problems import Problem
from pkm.errors import VaultAbsent, VaultLockedOut
from pkm.vault.models import KeyWrapper, RotationWrapper, VaultKey, VaultStatus, WrapperKind

RESTORABLE_FOR = timedelta(days=7)
RECOVERY_TRIED_WITHIN = timedelta(days=365)


def vault_keys(user: User) -> dict[str, Any]:
    """Contract §2, `GET /vault/keys`; two queries, three while the key is changed.

    Without a vault the status is `absent` and the rest empty.
    """
    vault = VaultKey.objects.filter(user=user).first()
    wrappers = KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk") if vault else []
    return {
        "user_id": user.public_id,
        "key_id": vault.key_id if vault else None,
        "vault_status": vault.vault_status if vault else "absent",
        "primary_wrapper_id": vault.primary_wrapper_id if vault else None,
        "wrappers": [wrapper_body(wrapper) for wrapper in wrappers],
        "signing_public_key": _signing_key(vault) if vault else None,
        "signing_jwe": (vault.signing_jwe or None) if vault else None,
        "rotation": rotation_progress(user, vault) if vault else None,
    }


def status_of(user: User) -> VaultStatus:
    """How the vault stands; without one it is `absent`. One query."""
    found = VaultKey.objects.filter(user=user).values_list("vault_status", flat=True).first()
    return VaultStatus(found or VaultStatus.ABSENT)


def _signing_key(vault: VaultKey) -> dict[str, str] | None:
    """The JWK with its members in one order, where PostgreSQL keeps an order of its own."""
    key = vault.signing_public_key
    return {name: key[name] for name in ("kty", "crv", "x")} if key else None


def rotation_progress(user: User, vault: VaultKey) -> dict[str, Any] | None:
    """{"key_id": of the key to come, "done", "total": segments}, or None where the key is not being changed."""
    if vault.vault_status != VaultStatus.ROTATING:
        return None
    current = user.blobs.filter(is_current=True, ciphertext__isnull=False)
    counts = current.aggregate(done=Count("pk", filter=Q(resealed__isnull=False)), total=Count("pk"))
    return {"key_id": vault.rotation_key_id, **counts}


def wrapper_body(wrapper: KeyWrapper | RotationWrapper) -> dict[str, Any]:
    """One wrapper as its owner gets it; `jwe` without the server's own layer."""
    return {
        "wrapper_id": wrapper.wrapper_id,
        "kind": wrapper.kind,
        "label": wrapper.label,
        "credential_id": wrapper.credential_id or None,
        "jwe": encryption.opened(wrapper.jwe),
        "created_at": rfc3339(wrapper.created_at),
        "last_used_at": rfc3339(getattr(wrapper, "last_used_at", None)),
    }


def not_in_use(user: User) -> Problem:
    """Why nothing can be written to this person's vault: there is none, or they gave it up."""
    given_up = VaultKey.objects.filter(user=user, vault_status=VaultStatus.LOCKED_OUT).exists()
    return VaultLockedOut() if given_up else VaultAbsent()


def restorable_since() -> datetime:
    """A wrapper that was removed after this moment can be put back, so that a stolen session locks nobody out."""
    return timezone.now() - RESTORABLE_FOR


def removed_wrappers(user: User) -> list[dict[str, Any]]:
    """The wrappers that can still be restored, without their sealed text; newest removal first."""
    rows = KeyWrapper.objects.filter(user=user, removed_at__gt=restorable_since()).order_by("-removed_at")
    return [
        {"wrapper_id": row.wrapper_id, "kind": row.kind, "label": row.label, "removed_at": rfc3339(row.removed_at)}
        for row in rows
    ]


@dataclass(frozen=True)
class Removal:
    """What it would mean to remove this way in."""

    gone: KeyWrapper
    left: Sequence[KeyWrapper]

    @property
    def only_recovery_remains(self) -> bool:
        return only_recovery_left(self.gone, self.left)


def removal(user: User, wrapper_id: str) -> Removal | None:
    """None where this person has no such way in, or removed it already."""
    live = list(KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk"))
    gone = next((wrapper for wrapper in live if wrapper.wrapper_id == wrapper_id), None)
    return Removal(gone, [wrapper for wrapper in live if wrapper is not gone]) if gone else None


def only_recovery_left(gone: KeyWrapper, left: Sequence[KeyWrapper]) -> bool:
    """Whether without `gone` a recovery code would be all that opens the vault, and was not before."""
    return gone.kind != WrapperKind.RECOVERY and all(wrapper.kind == WrapperKind.RECOVERY for wrapper in left)


def recovery_check_due(user: User) -> bool:
    """Whether there are recovery codes and for a year none was made or opened anything."""
    codes = KeyWrapper.objects.filter(user=user, removed_at=None, kind=WrapperKind.RECOVERY)
    latest = max((code.last_used_at or code.created_at for code in codes), default=None)
    return latest is not None and latest <= timezone.now() - RECOVERY_TRIED_WITHIN


def ways_in(user: User) -> dict[str, Any]:
    """How this person can open their vault: {"kinds": in words, "tried_at": when a recovery code opened it or was made,
    None without one, "check_due"}; one query."""
    live = KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk")
    kinds: list[str] = []
    tried: datetime | None = None
    for wrapper in live:
        label = str(WrapperKind(wrapper.kind).label)
        kinds += [] if label in kinds else [label]
        if wrapper.kind == WrapperKind.RECOVERY:
            tried = max(filter(None, (tried, wrapper.last_used_at, wrapper.created_at)))
    due = tried is not None and tried <= timezone.now() - RECOVERY_TRIED_WITHIN
    return {"kinds": kinds, "tried_at": tried, "check_due": due}


def kinds_of(user: User) -> list[str]:
    """Of what opens this person's vault, each once."""
    live = KeyWrapper.objects.filter(user=user, removed_at=None)
    return sorted(set(live.values_list("kind", flat=True)))


def needs_new_secrets(user: User) -> bool:
    """Whether a recovery code opened the vault, is still good, and no passphrase or passkey was made since."""
    live = KeyWrapper.objects.filter(user=user, removed_at=None)
    unlocked = live.filter(kind=WrapperKind.RECOVERY, unlocked_at__isnull=False)
    since = live.exclude(kind=WrapperKind.RECOVERY).filter(created_at__gt=OuterRef("unlocked_at"))
    return unlocked.filter(~Exists(since)).exists()
