"""The vault and the ways into it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common import encryption
from common.identifiers import new_identifier
from common.problems import InvalidRequest
from pkm import errors, hooks, sealed, signatures
from pkm.history.events import locked_index, record, record_root
from pkm.history.models import EventKind
from pkm.vault.capabilities import rewrite_capabilities
from pkm.vault.checks import checked_root
from pkm.vault.models import IN_USE, KeyWrapper, VaultKey, VaultStatus, WrapperKind
from pkm.vault.queries import not_in_use, only_recovery_left, restorable_since, vault_keys, wrapper_body

MOST_WRAPPERS = 20


@dataclass(frozen=True)
class NewWrapper:
    """A way in, as the browser sealed it; `credential_id` names the passkey, and is None for the other kinds."""

    kind: str
    label: str
    jwe: str
    credential_id: str | None = None


@dataclass(frozen=True)
class NewRoot:
    """The root that approvals are signed from: its public half, and its secret under the vault key."""

    public_key: dict[str, Any]
    jwe: str


@transaction.atomic
def create_vault(
    *,
    by: User,
    key_id: str,
    wrappers: Sequence[NewWrapper],
    root: NewRoot | None = None,
    possession_sha256: str | None = None,
) -> dict[str, Any]:
    """Make the one vault of a person, with its first ways in; returns what `GET /vault/keys` tells.

    The first wrapper that is not a recovery code becomes the primary one. Without a root nothing can be approved until
    there is one (`pkm.signing`). `possession_sha256` is what a change of this key is held to. Raises `VaultExists`,
    `WrapperMismatch`, `ApprovalMismatch`.
    """
    if not wrappers or len(wrappers) > MOST_WRAPPERS:
        raise InvalidRequest(f"A vault starts with one to {MOST_WRAPPERS} wrappers.")
    for wrapper in wrappers:
        check_wrapper(wrapper, by=by, key_id=key_id)
    public = root and checked_root(root.public_key, root.jwe, by=by, key_id=key_id)
    index = locked_index(by)
    if VaultKey.objects.filter(user=by).exists():
        raise errors.VaultExists()
    kept = [_keep(wrapper, by=by) for wrapper in wrappers]
    try:
        with transaction.atomic():
            VaultKey.objects.create(
                user=by,
                key_id=key_id,
                vault_status=VaultStatus.ACTIVE,
                primary_wrapper_id=primary_of(kept).wrapper_id,
                signing_public_key=public,
                signing_jwe=root.jwe if root else "",
                possession_sha256=possession_sha256 or "",
            )
    except IntegrityError:  # key_id is unique over all people, and this person has none yet
        raise InvalidRequest("This key_id is taken; make a new vault key.") from None
    rewrite_capabilities(index, (wrapper.kind for wrapper in kept))
    record(by, EventKind.VAULT_CREATED, key_id=key_id, wrappers=[wrapper.wrapper_id for wrapper in kept])
    if public:
        record_root(hooks.RootChange("set", new=signatures.thumbprint(public)), by=by)
    return vault_keys(by)


@transaction.atomic
def add_wrapper(*, by: User, wrapper: NewWrapper) -> dict[str, Any]:
    """Add a way into the vault; returns it.

    Raises `VaultAbsent`, `RotationUnderWay`, `TooManyWrappers`, `WrapperMismatch`.
    """
    index = locked_index(by)
    check_wrapper(wrapper, by=by, key_id=_vault(by).key_id)
    kinds = list(KeyWrapper.objects.filter(user=by, removed_at=None).values_list("kind", flat=True))
    if len(kinds) >= MOST_WRAPPERS:
        raise errors.TooManyWrappers(f"A vault has at most {MOST_WRAPPERS} ways in; remove one first.")
    kept = _keep(wrapper, by=by)
    rewrite_capabilities(index, [*kinds, kept.kind])
    record(by, EventKind.WRAPPER_ADDED, wrapper_id=kept.wrapper_id, kind=kept.kind)
    note_change(of=by, kind=WayChange.WRAPPER_ADDED, detail=kept.kind)
    return wrapper_body(kept)


@transaction.atomic
def remove_wrapper(*, by: User, wrapper_id: str, allow_only_recovery: bool = False) -> None:
    """Close a way into the vault; it can be restored for seven days.

    `allow_only_recovery` says that a piece of paper may be all that is left. Raises `UnknownWrapper`, `LastWrapper`,
    `OnlyRecoveryLeft`, `RotationUnderWay`.
    """
    index = locked_index(by)
    live = list(KeyWrapper.objects.filter(user=by, removed_at=None).order_by("pk"))
    gone = next((wrapper for wrapper in live if wrapper.wrapper_id == wrapper_id), None)
    if gone is None:
        raise errors.UnknownWrapper
    left = [wrapper for wrapper in live if wrapper is not gone]
    if not left:
        raise errors.LastWrapper("Add another way in before you remove this one.")
    if not allow_only_recovery and only_recovery_left(gone, left):
        raise errors.OnlyRecoveryLeft
    vault = _vault(by)
    if vault.primary_wrapper_id == gone.wrapper_id:
        vault.primary_wrapper_id = primary_of(left).wrapper_id
        vault.save(update_fields=["primary_wrapper_id", "updated_at"])
    gone.removed_at = timezone.now()
    gone.save(update_fields=["removed_at"])
    rewrite_capabilities(index, (wrapper.kind for wrapper in left))
    record(by, EventKind.WRAPPER_REMOVED, wrapper_id=gone.wrapper_id, kind=gone.kind)
    note_change(of=by, kind=WayChange.WRAPPER_REMOVED, detail=gone.kind)


@transaction.atomic
def restore_wrapper(*, by: User, wrapper_id: str) -> dict[str, Any]:
    """Put back a way in that was removed within the last seven days; returns it. Never removed: nothing changes.

    The limit on wrappers does not count here: whoever removed one must not be able to block its way back. Raises
    `UnknownWrapper`, `RotationUnderWay`.
    """
    index = locked_index(by)
    wrapper = KeyWrapper.objects.filter(user=by, wrapper_id=wrapper_id).first()
    if wrapper is None or (wrapper.removed_at is not None and wrapper.removed_at <= restorable_since()):
        raise errors.UnknownWrapper
    if wrapper.removed_at is not None:
        _vault(by)
        wrapper.removed_at = None
        wrapper.save(update_fields=["removed_at"])
        live = KeyWrapper.objects.filter(user=by, removed_at=None)
        rewrite_capabilities(index, live.values_list("kind", flat=True))
        record(by, EventKind.WRAPPER_RESTORED, wrapper_id=wrapper.wrapper_id, kind=wrapper.kind)
        note_change(of=by, kind=WayChange.WRAPPER_RESTORED, detail=wrapper.kind)
    return wrapper_body(wrapper)


@transaction.atomic
def note_unlock(*, by: User, wrapper_id: str, tried: bool = False) -> bool:
    """The browser opened the vault with this wrapper, or only `tried` it; whether its owner had given the vault up.

    A recovery code that was needed is remembered (`queries.needs_new_secrets`). Raises `UnknownWrapper`.
    """
    now = timezone.now()
    used: dict[str, Any] = {"last_used_at": now}
    if not tried:
        used["unlocked_at"] = Case(When(kind=WrapperKind.RECOVERY, then=Value(now)), default=None)
    if not KeyWrapper.objects.filter(user=by, wrapper_id=wrapper_id, removed_at=None).update(**used):
        raise errors.UnknownWrapper
    vault = VaultKey.objects.filter(user=by)
    logins = {"last_login_at": now, "first_login_at": Coalesce("first_login_at", now)}
    if vault.exclude(vault_status=VaultStatus.LOCKED_OUT).update(**logins):
        return False
    return bool(vault.update(**logins))


def finish_setup(*, by: User) -> None:
    """The first minutes are over: there is a vault, and the person saw what an app would see. Raises `VaultAbsent`."""
    if not VaultKey.objects.filter(user=by, vault_status__in=IN_USE).update(pre_onboarding_completed=True):
        raise errors.VaultAbsent


def forget_removed_wrappers() -> int:
    """Delete the wrappers that can no longer be restored, so that an old secret opens nothing; returns how many."""
    deleted, _ = KeyWrapper.objects.filter(removed_at__lte=restorable_since()).delete()
    return deleted


def _vault(user: User) -> VaultKey:
    """The vault, whose ways in may change now: what wraps a key that is about to go would be lost with it."""
    vault = VaultKey.objects.filter(user=user, vault_status__in=IN_USE).first()
    if vault is None:
        raise not_in_use(user)
    if vault.vault_status == VaultStatus.ROTATING:
        raise errors.RotationUnderWay(
            "Finish the change of the vault's key, or give it up, before you change the ways in."
        )
    return vault


def check_wrapper(wrapper: NewWrapper, *, by: User, key_id: str) -> None:
    """Raises `WrapperMismatch`."""
    try:
        sealed.check_wrapper_header(
            sealed.read_header(wrapper.jwe), key_id=key_id, user_id=by.public_id, kind=wrapper.kind
        )
    except sealed.InvalidHeader as unfit:
        raise errors.WrapperMismatch(f"The {wrapper.kind} wrapper: {unfit}.", member=unfit.member) from None


def _keep(wrapper: NewWrapper, *, by: User) -> KeyWrapper:
    return KeyWrapper.objects.create(
        user=by,
        wrapper_id=new_identifier("wrp"),
        kind=wrapper.kind,
        label=wrapper.label,
        jwe=encryption.sealed(wrapper.jwe),
        credential_id=wrapper.credential_id or "",
    )


def primary_of(wrappers: Sequence[KeyWrapper]) -> KeyWrapper:
    """The way in that is offered first: a recovery code only where there is nothing else."""
    return next((wrapper for wrapper in wrappers if wrapper.kind != WrapperKind.RECOVERY), wrappers[0])
