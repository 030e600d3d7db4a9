"""Changing the key of a vault.

The browser makes the new key and seals every segment again, at the revision that it has; both copies stand side by
side until all are there. Until then the present key counts: whoever writes meanwhile writes under it, which drops what
was re-sealed of that segment, so that it is sealed again. The end takes the lock that orders a person's writes, so that
what it replaces is what was last written.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Length
from django.utils import timezone

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from common import encryption
from common.identifiers import new_identifier
from common.problems import InvalidRequest, NotFound
from pkm.errors import ApprovalMismatch, RotationIncomplete, RotationUnderWay, StaleRevision
from pkm.history.events import locked_index, record
from pkm.history.models import EventKind
from pkm.notes import VaultNotes, check_notes, record_state
from pkm.rotation.queries import current_segments, read_back_mark, rotating_vault, rotation
from pkm.segments.actions import check_sealed
from pkm.segments.models import Blob
from pkm.segments.storage import refuse_beyond_quota, storage_of
from pkm.vault.actions import MOST_WRAPPERS, NewWrapper, check_wrapper, primary_of
from pkm.vault.capabilities import rewrite_capabilities
from pkm.vault.checks import check_sealed_root, require_possession
from pkm.vault.models import IN_USE, KeyWrapper, RotationWrapper, VaultKey, VaultStatus
from pkm.vault.queries import not_in_use, rotation_progress, vault_keys

_MOST_NAMED = 50  # of the segments that are missing
_LONGER_HEADER = 256  # bytes by which the name of another key may lengthen what is sealed


@transaction.atomic
def start_rotation(
    *,
    by: User,
    key_id: str,
    wrappers: Sequence[NewWrapper],
    signing_jwe: str | None = None,
    possession: str | None = None,
    possession_sha256: str | None = None,
) -> dict[str, Any]:
    """Keep the ways into the vault under the key to come; returns `rotation`. Said twice alike, it is done once.

    `signing_jwe` is the approval root that there is, sealed under the key to come. `possession` shows that the present
    key is held: whoever has a sign-in alone would lock its owner out for good at the end. `possession_sha256` is what
    the next change is held to. Raises `VaultAbsent`, `RotationUnderWay`, `PossessionRequired`, `WrapperMismatch`,
    `ApprovalMismatch`, `InvalidRequest`.
    """
    for wrapper in wrappers:
        check_wrapper(wrapper, by=by, key_id=key_id)
    locked_index(by)
    vault = VaultKey.objects.filter(user=by, vault_status__in=IN_USE).first()
    if vault is None:
        raise not_in_use(by)
    if vault.vault_status == VaultStatus.ROTATING:
        if not _is_this(vault, key_id, wrappers):
            raise RotationUnderWay("A change of the vault's key is under way. Go on with it, or give it up first.")
        return rotation(by)
    if not wrappers or len(wrappers) > MOST_WRAPPERS:
        raise InvalidRequest(f"A vault has one to {MOST_WRAPPERS} wrappers.")
    require_possession(vault, possession)
    _keep_root(vault, signing_jwe, by=by, key_id=key_id)
    _mark_rotating(vault, key_id, possession_sha256 or "")
    for wrapper in wrappers:
        _keep(wrapper, vault)
    note_change(of=by, kind=WayChange.KEY_CHANGE_BEGUN)
    return rotation(by)


@transaction.atomic
def keep_resealed(*, by: User, domain: str, segment_id: str, jwe: str, content_revision: int) -> dict[str, Any]:
    """Keep a segment as it is now under the key to come, beside what stands.

    Returns {"domain", "segment_id", "content_revision", "size_bytes", "done", "total"}. Raises `UnknownRotation`,
    `NotFound`, `StaleRevision`, `SegmentMismatch`, `QuotaExceeded`.
    """
    locked_index(by)
    vault = rotating_vault(by)
    current = current_segments(by).filter(domain=domain, segment_id=segment_id).defer("ciphertext", "resealed").first()
    if current is None:
        raise NotFound(f"You keep nothing in {domain[:64]}.{segment_id[:64]}.")
    if current.content_revision != content_revision:
        raise StaleRevision(
            f"The current revision is {current.content_revision}, not {content_revision}. Read it, then seal it again.",
            current_content_revision=current.content_revision,
        )
    place = {"domain": domain, "segment_id": segment_id}
    check_sealed(
        jwe,
        by=by,
        key_id=vault.rotation_key_id,
        domain=domain,
        segment_id=segment_id,
        content_revision=content_revision,
    )
    if len(jwe) > current.size_bytes + _LONGER_HEADER:
        refuse_beyond_quota(storage=storage_of(by), size_bytes=len(jwe), replaces_bytes=current.size_bytes)
    mark = hashlib.sha256(jwe.encode()).hexdigest()
    Blob.objects.filter(pk=current.pk).update(resealed=jwe, resealed_sha256=mark)
    progress = rotation_progress(by, vault) or {}
    sizes = {"content_revision": content_revision, "size_bytes": len(jwe)}
    return {**place, **sizes, "done": progress["done"], "total": progress["total"]}


@transaction.atomic
def finish_rotation(*, by: User, read_back: str | None = None) -> dict[str, Any]:
    """Put the new key in the place of the present one, if every segment is re-sealed as it is now; `vault_keys`.

    `read_back` is `read_back_mark` of what the browser read back: where that is not what stands, nothing changes. Older
    revisions and every earlier way in go, also those that could have been put back: they hold the old key. Raises
    `UnknownRotation`, `RotationIncomplete`.
    """
    index = locked_index(by)
    vault = rotating_vault(by)
    _require_complete(by, read_back)
    Blob.objects.filter(user=by, is_current=False).delete()
    current_segments(by).update(
        ciphertext=F("resealed"), size_bytes=Length("resealed"), resealed=None, resealed_sha256=""
    )
    kept = _replace_wrappers(vault, by)
    vault.key_id = vault.rotation_key_id
    vault.possession_sha256 = vault.rotation_possession_sha256
    vault.signing_jwe = vault.rotation_signing_jwe
    if VaultNotes.objects.filter(user=by).exclude(resealed="").update(jwe=F("resealed"), resealed=""):
        notes = VaultNotes.objects.get(user=by)
        record_state(by, key_id=vault.key_id, revision=notes.revision, jwe=notes.jwe)
    vault.primary_wrapper_id = primary_of(kept).wrapper_id
    _end(vault)
    rewrite_capabilities(index, (wrapper.kind for wrapper in kept))
    note_change(of=by, kind=WayChange.KEY_CHANGE_FINISHED)
    return vault_keys(by)


@transaction.atomic
def give_up_rotation(*, by: User) -> None:
    """Forget the key to come and all that was sealed under it; what stands was never touched. `UnknownRotation`."""
    locked_index(by)
    vault = rotating_vault(by)
    Blob.objects.filter(user=by, resealed__isnull=False).update(resealed=None, resealed_sha256="")
    VaultNotes.objects.filter(user=by).update(resealed="")
    vault.rotation_wrappers.all().delete()
    _end(vault)
    note_change(of=by, kind=WayChange.KEY_CHANGE_GIVEN_UP)


@transaction.atomic
def keep_resealed_notes(*, by: User, jwe: str, revision: int) -> None:
    """Keep the vault's notes as they are now under the key to come. Raises `UnknownRotation`, `StaleRevision`."""
    locked_index(by)
    vault = rotating_vault(by)
    notes = VaultNotes.objects.filter(user=by).first()
    current = notes.revision if notes else 0
    if notes is None or current != revision:
        raise StaleRevision(f"The current revision is {current}.", current_revision=current)
    check_notes(jwe, by=by, key_id=vault.rotation_key_id, revision=revision)
    notes.resealed = jwe
    notes.save(update_fields=["resealed"])


def _is_this(vault: VaultKey, key_id: str, wrappers: Sequence[NewWrapper]) -> bool:
    kept = [encryption.opened(jwe) for jwe in vault.rotation_wrappers.order_by("pk").values_list("jwe", flat=True)]
    return vault.rotation_key_id == key_id and kept == [wrapper.jwe for wrapper in wrappers]


def _mark_rotating(vault: VaultKey, key_id: str, possession_sha256: str) -> None:
    taken = InvalidRequest("This key_id is taken; make a new vault key.")
    if VaultKey.objects.filter(Q(key_id=key_id) | Q(rotation_key_id=key_id)).exists():
        raise taken
    vault.vault_status = VaultStatus.ROTATING
    vault.rotation_key_id = key_id
    vault.rotation_possession_sha256 = possession_sha256
    vault.rotation_started_at = timezone.now()
    try:
        with transaction.atomic():
            vault.save()
    except IntegrityError:  # somebody else's change to the same key, at the same moment
        raise taken from None


def _keep_root(vault: VaultKey, signing_jwe: str | None, *, by: User, key_id: str) -> None:
    if (vault.signing_public_key is None) != (signing_jwe is None):
        message = "The vault has no approval root." if signing_jwe else "Seal the approval root under the new key, too."
        raise ApprovalMismatch(message, member="signing_jwe")
    if signing_jwe is not None:
        check_sealed_root(signing_jwe, by=by, key_id=key_id)
    vault.rotation_signing_jwe = signing_jwe or ""


def _keep(wrapper: NewWrapper, vault: VaultKey) -> None:
    RotationWrapper.objects.create(
        vault=vault,
        wrapper_id=new_identifier("wrp"),
        kind=wrapper.kind,
        label=wrapper.label,
        jwe=encryption.sealed(wrapper.jwe),
        credential_id=wrapper.credential_id or "",
    )


def _require_complete(user: User, read_back: str | None) -> None:
    if VaultNotes.objects.filter(user=user, resealed="").exists():
        message = "The vault's own notes are not re-sealed as they are now."
        raise RotationIncomplete(message, done=0, total=1, missing=[{"notes": True}])
    rows = list(current_segments(user).values_list("domain", "segment_id", "content_revision", "resealed_sha256"))
    missing = sorted(row[:3] for row in rows if not row[3])
    if missing:
        named = [
            {"domain": domain, "segment_id": segment, "content_revision": revision}
            for domain, segment, revision in missing[:_MOST_NAMED]
        ]
        message = f"{len(missing)} of {len(rows)} segments are not re-sealed as they are now."
        raise RotationIncomplete(message, done=len(rows) - len(missing), total=len(rows), missing=named)
    if read_back is not None and read_back != read_back_mark(rows):
        message = "What is re-sealed is not what you read back. Read it back again."
        raise RotationIncomplete(message, done=len(rows), total=len(rows), missing=[])


def _replace_wrappers(vault: VaultKey, user: User) -> list[KeyWrapper]:
    gone = KeyWrapper.objects.filter(user=user)
    for wrapper_id, kind in gone.filter(removed_at=None).order_by("pk").values_list("wrapper_id", "kind"):
        record(user, EventKind.WRAPPER_REMOVED, wrapper_id=wrapper_id, kind=kind)
    gone.delete()
    kept = [
        KeyWrapper.objects.create(
            user=user,
            wrapper_id=new.wrapper_id,
            kind=new.kind,
            label=new.label,
            jwe=new.jwe,
            credential_id=new.credential_id,
        )
        for new in vault.rotation_wrappers.order_by("pk")
    ]
    vault.rotation_wrappers.all().delete()
    for new in kept:
        facts = {"wrapper_id": new.wrapper_id, "kind": new.kind, "key_id": vault.rotation_key_id}
        record(user, EventKind.WRAPPER_ADDED, **facts)
    return kept


def _end(vault: VaultKey) -> None:
    vault.vault_status = VaultStatus.ACTIVE
    vault.rotation_key_id = ""
    vault.rotation_possession_sha256 = ""
    vault.rotation_started_at = None
    vault.rotation_signing_jwe = ""
    vault.save()
