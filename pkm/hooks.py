"""What this room tells and asks the rooms above it, which it cannot import: they register in `AppConfig.ready`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.dispatch import Signal

from accounts.models import User
from common.text import StrOrPromise

# by, entry_pk: staff changed what a scope means, or `sync_registry` did (`by` is None); inside the transaction of it
entry_changed = Signal()
# by, entry_pks, ends_grants: staff withdrew these scopes, whose entries are locked, so that nobody requests or approves
# them until the transaction is over, inside which it is sent. `ends_grants`: live grants of them are to end, too
entries_withdrawn = Signal()
# entry_pks: what would a change of them touch? Each receiver answers with a list of `Touched`
entries_touched = Signal()


class Concerned(NamedTuple):
    """An app beside a domain: its name, the digest of its logo or "", and the page that tells about it."""

    name: str
    logo: str
    address: str


@dataclass
class Audience:
    """Whom a domain concerns beside its owner: the apps that may see some of it, and those that wait, each once."""

    may_see: list[Concerned] = field(default_factory=list)
    requesters: list[Concerned] = field(default_factory=list)


# who may see what of this person, and who asked for it: domain → its audience
AudienceOf = Callable[[User], dict[str, Audience]]
_audiences: list[AudienceOf] = []


def register_audience(audience_of: AudienceOf) -> None:
    """Let a room above tell who may see a card of "My data"; once for each room."""
    if audience_of not in _audiences:
        _audiences.append(audience_of)


def audience_of(user: User) -> dict[str, Audience]:
    """Domain → whom it concerns, as every room above tells it."""
    merged: dict[str, Audience] = {}
    for audience_of_room in _audiences:
        for domain, audience in audience_of_room(user).items():
            known = merged.setdefault(domain, Audience())
            known.may_see.extend(audience.may_see)
            known.requesters.extend(audience.requesters)
    return merged


@dataclass(frozen=True)
class RootChange:
    """What happened to the root that somebody's approvals are signed from, inside the transaction that does it.

    `change` is set, replaced or given_up; the thumbprints are of the public halves, "" where there is none. `rotation`
    is what the person signed for a replacement, of the apps' keys alone, not checked yet.
    """

    change: str
    old: str = ""
    new: str = ""
    rotation: tuple[Any, ...] = ()


OnRootChange = Callable[[User, RootChange], None]
_on_root_change: list[OnRootChange] = []


def register_root_change(do: OnRootChange) -> None:
    """Let a room above write down what becomes of an approval root, or refuse it; once for each room."""
    if do not in _on_root_change:
        _on_root_change.append(do)


def root_changed(user: User, change: RootChange) -> None:
    """Tell every room above."""
    for do in _on_root_change:
        do(user, change)


class NotesState(NamedTuple):
    """The notes that a vault has from now on: under which of its keys, their revision, the SHA-256 of the JWE."""

    key_id: str
    revision: int
    notes_sha256: str


OnNotesWritten = Callable[["User", NotesState], None]
_on_notes_written: list[OnNotesWritten] = []


def register_notes_written(do: OnNotesWritten) -> None:
    """Let a room above write down in which state a vault is, inside the transaction; once for each room."""
    if do not in _on_notes_written:
        _on_notes_written.append(do)


def notes_written(user: "User", state: NotesState) -> None:
    """Tell every room above."""
    for do in _on_notes_written:
        do(user, state)


# locks what hangs on a person's vault, and returns what ends it
BeforeVaultGoes = Callable[[User], Callable[[], None]]
_before_vault_goes: list[BeforeVaultGoes] = []


def register_before_vault_goes(lock: BeforeVaultGoes) -> None:
    """Let a room above end what hangs on a vault that was given up; once for each room."""
    if lock not in _before_vault_goes:
        _before_vault_goes.append(lock)


def before_vault_goes(user: User) -> list[Callable[[], None]]:
    """Every room above locks what it is to end, before this person's index row is; returns what ends it."""
    return [lock(user) for lock in _before_vault_goes]


class Touched(NamedTuple):
    """How many of what a change touches.

    Where withdrawing the scopes can end these too, `to_end` is the words of that choice, and `permission` the one that
    it takes.
    """

    what: StrOrPromise
    number: int
    to_end: str = ""
    permission: str = ""
