"""What a vault keeps for itself, sealed: one record a person, written together with what it is about."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db import models, transaction

from accounts.models import User
from common.clock import rfc3339
from common.constraints import check
from common.limits import Limit, count
from common.problems import TooManyRequests
from common.sql.dialect import Joined
from pkm import sealed, signatures
from pkm.errors import NotesMismatch, StaleRevision
from pkm.history.events import locked_index
from pkm.hooks import NotesState, notes_written
from pkm.vault.models import IN_USE, VaultKey
from pkm.vault.queries import not_in_use

Changed = TypeVar("Changed")
_WRITTEN = Limit("vault-notes", 600, 3600, in_database=True)  # kept with the notes, or not at all


class VaultNotes(models.Model):
    """One record a person. `resealed` is the same under the vault's key to come, while that is changed."""

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="vault_notes")
    revision = models.PositiveIntegerField()
    jwe = models.TextField()
    resealed = models.TextField(blank=True, default="", db_default="")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "vault_notes"
        constraints = [check("vault_notes_revision_from_one", models.Q(revision__gte=1))]


def notes_of(user: User) -> dict[str, Any]:
    """{"revision": 0 where there are none, "jwe": or None, "updated_at": or None, "hidden_scopes"}.

    The scopes are those hidden at the moment of these notes, which tell of them: one statement reads both.
    """
    found = VaultNotes.objects.filter(user=user).annotate(hidden=Joined("user__hidden_scopes__scope"))
    notes = found.values("revision", "jwe", "updated_at", "hidden").first()
    if notes is None:
        return {"revision": 0, "jwe": None, "updated_at": None, "hidden_scopes": []}
    return {
        "revision": notes["revision"],
        "jwe": notes["jwe"],
        "updated_at": rfc3339(notes["updated_at"]),
        "hidden_scopes": sorted((notes["hidden"] or "").split()),
    }


def has_notes(user: User) -> bool:
    return VaultNotes.objects.filter(user=user).exists()


@transaction.atomic
def write_notes(*, by: User, jwe: str, base_revision: int, counted: bool = False) -> dict[str, Any]:
    """Keep the revision after `base_revision` (0 for the first); returns `notes_of`.

    Inside the transaction of what they tell of, where there is one: a decision, a newer export, an end.
    Each leaves an entry in the public log for good: `counted` are those that nothing brings along which protects or
    is limited itself.

    Raises `StaleRevision` where somebody else wrote first, `NotesMismatch`, `VaultAbsent`, `TooManyRequests`.
    """
    locked_index(by)
    vault = VaultKey.objects.filter(user=by, vault_status__in=IN_USE).first()
    if vault is None:
        raise not_in_use(by)
    notes = VaultNotes.objects.filter(user=by).first()
    current = notes.revision if notes else 0
    if current != base_revision:
        detail = f"The notes' current revision is {current}."
        raise StaleRevision(detail, member="notes", current_revision=current)
    check_notes(jwe, by=by, key_id=vault.key_id, revision=current + 1)
    if counted:
        _count(by)
    VaultNotes.objects.update_or_create(user=by, defaults={"revision": current + 1, "jwe": jwe, "resealed": ""})
    record_state(by, key_id=vault.key_id, revision=current + 1, jwe=jwe)
    return notes_of(by)


def _count(by: User) -> None:
    count(_WRITTEN, by.public_id).require(TooManyRequests)


def record_state(user: User, *, key_id: str, revision: int, jwe: str) -> None:
    """Have it written down that these are the notes now; inside the transaction that makes them so."""
    state = NotesState(key_id, revision, signatures.sha256(jwe))
    notes_written.send(sender=User, user=user, state=state)


def change_with_notes(
    change: Callable[[], Changed], *, by: User, notes: Mapping[str, Any] | None, counted: bool = False
) -> Changed:
    """Do this and keep the notes that tell of it, both or neither; returns what `change` does.

    `notes` and `counted` are the arguments of `write_notes`. A change without notes can be `counted`, too: what was
    written uncounted could be deleted with notes, which never count, again and again. Raises what that and `change` do.
    """
    if notes is None and not counted:
        return change()
    with transaction.atomic():
        changed = change()
        if notes is not None:
            write_notes(by=by, **notes, counted=counted)
        else:
            _count(by)
    return changed


def check_notes(jwe: str, *, by: User, key_id: str, revision: int) -> None:
    """Raises `NotesMismatch`."""
    try:
        header = sealed.read_header(jwe)
        sealed.check_notes_header(header, key_id=key_id, user_id=by.public_id, revision=revision)
    except sealed.InvalidHeader as unfit:
        raise NotesMismatch(f"The sealed notes: {unfit}.", member=unfit.member) from None
