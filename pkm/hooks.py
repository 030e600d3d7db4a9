"""What this room tells and asks the rooms above it, which it cannot import."""

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
# user: whom do the domains that this person keeps concern? Each receiver answers with {domain: `Audience`}
domains_shown = Signal()
# user, change: what happened to an approval root (`RootChange`); inside its transaction, and a receiver may refuse it
root_changed = Signal()
# user, state: a vault has these notes from now on (`NotesState`); inside the transaction
notes_written = Signal()
# user: a vault that was given up goes. Each receiver locks what hangs on it, before this person's index row is locked,
# and answers with what ends it
vault_ending = Signal()


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


def audience_of(user: User) -> dict[str, Audience]:
    """Domain → whom it concerns, as every room above tells it."""
    merged: dict[str, Audience] = {}
    answers: Any = domains_shown.send(sender=User, user=user)
    for domain, audience in (item for _receiver, found in answers for item in found.items()):
        known = merged.setdefault(domain, Audience())
        known.may_see.extend(audience.may_see)
        known.requesters.extend(audience.requesters)
    return merged


@dataclass(frozen=True)
class RootChange:
    """What happened to the root that somebody's approvals are signed from.

    `change` is set, replaced or given_up; the thumbprints are of the public halves, "" where there is none. `rotation`
    is what the person signed for a replacement, of the apps' keys alone, not checked yet.
    """

    change: str
    old: str = ""
    new: str = ""
    rotation: tuple[Any, ...] = ()


class NotesState(NamedTuple):
    """The notes that a vault has from now on: under which of its keys, their revision, the SHA-256 of the JWE."""

    key_id: str
    revision: int
    notes_sha256: str


class Touched(NamedTuple):
    """How many of what a change touches.

    Where withdrawing the scopes can end these too, `to_end` is the words of that choice, and `permission` the one that
    it takes.
    """

    what: StrOrPromise
    number: int
    to_end: str = ""
    permission: str = ""
