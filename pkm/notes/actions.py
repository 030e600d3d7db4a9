"""Reading and writing a vault's own notes: what the browser has to remember on every device of its person.

The keys that apps used before and what was last seen of the public log lie here, so that a server that forgets them, or
says otherwise, is found out. It is one small record, written whole.
"""

from typing import TYPE_CHECKING, Any

from django.db import transaction

from common.clock import rfc3339
from pkm import sealed
from pkm.errors import NotesMismatch, StaleRevision
from pkm.history.events import locked_index
from pkm.notes.models import VaultNotes
from pkm.vault.actions import create_vault
from pkm.vault.models import IN_USE, VaultKey
from pkm.vault.queries import not_in_use

if TYPE_CHECKING:
    from accounts.models import User


def notes_of(user: "User") -> dict[str, Any]:
    """{"revision": 0 where there are none, "jwe": or None, "updated_at": or None}."""
    notes = VaultNotes.objects.filter(user=user).first()
    if notes is None:
        return {"revision": 0, "jwe": None, "updated_at": None}
    return {"revision": notes.revision, "jwe": notes.jwe, "updated_at": rfc3339(notes.updated_at)}


@transaction.atomic
def write_notes(*, by: "User", jwe: str, base_revision: int) -> dict[str, Any]:
    """Keep the revision after `base_revision` (0 for the first); returns `notes_of`.

    Inside the transaction of what they tell of, where there is one: a decision, a newer export, an end.

    Raises `StaleRevision` where somebody else wrote first, `NotesMismatch`, `VaultAbsent`.
    """
    locked_index(by)
    vault = VaultKey.objects.filter(user=by, vault_status__in=IN_USE).first()
    if vault is None:
        raise not_in_use(by)
    notes = VaultNotes.objects.filter(user=by).first()
    current = notes.revision if notes else 0
    if current != base_revision:
        said = f"The notes' current revision is {current}."
        raise StaleRevision(said, member="notes", current_revision=current)
    check_notes(jwe, by=by, key_id=vault.key_id, revision=current + 1)
    VaultNotes.objects.update_or_create(user=by, defaults={"revision": current + 1, "jwe": jwe, "resealed": ""})
    return notes_of(by)


def create_vault_with_notes(*, by: "User", notes: str | None, **vault: Any) -> dict[str, Any]:
    """Make the one vault of a person (`pkm.vault.actions.create_vault`, whose members `vault` are), with its notes.

    Raises what that does, and `NotesMismatch`.
    """
    if notes is None:
        return create_vault(by=by, **vault)
    with transaction.atomic():
        made = create_vault(by=by, **vault)
        write_notes(by=by, jwe=notes, base_revision=0)
    return made


def check_notes(jwe: str, *, by: "User", key_id: str, revision: int) -> None:
    """Raises `NotesMismatch`."""
    try:
        header = sealed.read_header(jwe)
        sealed.check_notes_header(header, key_id=key_id, user_id=by.public_id, revision=revision)
    except sealed.InvalidHeader as unfit:
        raise NotesMismatch(f"The sealed notes: {unfit}.", member=unfit.member) from None
