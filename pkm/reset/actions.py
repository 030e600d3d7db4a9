"""Giving up a vault that nobody can open any more, so that its person can begin anew.

It takes effect after seven days, in which the page, a mail and every unlock can take it back: whoever has a session
alone must not be able to destroy what its owner can still open.
"""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import User
from accounts.outbox import drop_mails, send_mail
from common.clock import database_now
from common.shutdown import shutdown
from pkm import hooks, signatures
from pkm.errors import VaultAbsent
from pkm.history.events import locked_index, record
from pkm.history.models import EventKind, Index
from pkm.notes import VaultNotes
from pkm.reset.models import VaultReset
from pkm.rotation.actions import give_up_rotation
from pkm.segments.actions import delete_segment
from pkm.segments.models import Blob
from pkm.vault.capabilities import capabilities_of, rewrite_capabilities
from pkm.vault.models import KeyWrapper, VaultKey, VaultStatus

RESET_DELAY = timedelta(days=7)  # contract §2
_AT_ONCE = 20  # of one run
_log = logging.getLogger(__name__)


@transaction.atomic
def request_reset(*, by: User) -> VaultReset:
    """The vault is locked out, and destroyed when the time has come. Asked again, it stays as it was. `VaultAbsent`."""
    index = locked_index(by)
    vault = VaultKey.objects.filter(user=by).first()
    if vault is None:
        raise VaultAbsent
    found = VaultReset.objects.filter(vault=vault).first()
    if found is not None:
        return found
    if vault.vault_status == VaultStatus.ROTATING:
        give_up_rotation(by=by)
    VaultKey.objects.filter(pk=vault.pk).update(vault_status=VaultStatus.LOCKED_OUT)
    if vault.signing_public_key is not None:
        change = hooks.RootChange("given_up", old=signatures.thumbprint(vault.signing_public_key))
        hooks.root_changed.send(sender=User, user=by, change=change)
    _clear_capabilities(index)
    now = database_now()
    reset: VaultReset = VaultReset.objects.create(vault=vault, asked_at=now, due_at=now + RESET_DELAY)
    context = {"reset": reset, "address": f"{settings.BASE_URL}/account/security/reset/"}
    send_mail("account_security/mail/reset", to=by, context=context, key=f"reset:{by.pk}")
    return reset


@transaction.atomic
def take_back_reset(*, by: User) -> bool:
    """The vault is as it was; whether it had been given up."""
    if not VaultReset.objects.filter(vault__user=by).exists():
        return False  # the usual case, without the lock
    index = locked_index(by)
    if not VaultReset.objects.filter(vault__user=by).delete()[0]:
        return False
    drop_mails(f"reset:{by.pk}")
    VaultKey.objects.filter(user=by).update(vault_status=VaultStatus.ACTIVE)
    live = KeyWrapper.objects.filter(user=by, removed_at=None)
    rewrite_capabilities(index, live.values_list("kind", flat=True))
    return True


def carry_out_resets() -> int:
    """Destroy the vaults whose time has come; returns how many."""
    due = VaultReset.objects.filter(due_at__lte=database_now()).order_by("due_at", "pk")
    done = 0
    for reset_pk in list(due.values_list("pk", flat=True)[:_AT_ONCE]):
        if shutdown.has_begun():
            break
        done += _carry_out(reset_pk)
    return done


@transaction.atomic
def _carry_out(reset_pk: int) -> bool:
    """Each segment leaves its tombstone, from which counting goes on in the next vault; every way in goes, and what
    hangs on the vault ends."""
    due = VaultReset.objects.filter(pk=reset_pk, due_at__lte=database_now()).select_related("vault__user")
    reset = due.first()
    if reset is None:
        return False
    user = reset.vault.user
    # grants are locked before the index row, as a newer export locks them
    ends: Any = hooks.vault_ending.send(sender=User, user=user)
    index = locked_index(user)
    if not due.exists():  # taken back before this had the lock
        return False
    kept = Blob.objects.filter(user=user, is_current=True, ciphertext__isnull=False).order_by("pk")
    for domain, segment_id, revision in kept.values_list("domain", "segment_id", "content_revision"):
        delete_segment(by=user, domain=domain, segment_id=segment_id, base_content_revision=revision)
    for wrapper in KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk"):
        record(user, EventKind.WRAPPER_REMOVED, wrapper_id=wrapper.wrapper_id, kind=wrapper.kind)
    KeyWrapper.objects.filter(user=user).delete()
    VaultNotes.objects.filter(user=user).delete()
    reset.vault.delete()
    index.refresh_from_db()
    _clear_capabilities(index)
    for _receiver, end in ends:  # the heads of the chains are locked last
        end()
    _log.warning("The vault of %s was given up and is destroyed", user.public_id)
    return True


def _clear_capabilities(index: Index) -> None:
    kinds = set(KeyWrapper.objects.filter(user=index.user_id, removed_at=None).values_list("kind", flat=True))
    index.capability_flags = capabilities_of(has_vault=False, kinds=kinds)
    index.save(update_fields=["capability_flags", "updated_at"])


def pending_reset(user: User) -> VaultReset | None:
    """The one that is not carried out yet."""
    return VaultReset.objects.filter(vault__user=user).first()
