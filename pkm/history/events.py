"""The lock that orders a person's writes, and the history that is counted under it."""

from typing import Any

from django.db.models import Max

from accounts.models import User, WayChange
from accounts.security_changes import note_change
from pkm import hooks
from pkm.history.models import Event, EventKind, Index


def locked_index(user: User) -> Index:
    """This person's index row, locked until the transaction ends; made where there is none yet.

    Every write to somebody's model starts here. SQLite has no row locks: its write transactions run one by one.
    """
    Index.objects.get_or_create(user=user)
    return Index.objects.select_for_update().get(user=user)


def record(user: User, event: EventKind, /, **facts: Any) -> None:
    """Append to the person's history; the caller holds their index row, so the sequence has no gaps."""
    newest = Event.objects.filter(user=user).aggregate(newest=Max("sequence"))["newest"] or 0
    Event.objects.create(user=user, sequence=newest + 1, kind=event, facts=facts)


def record_root(change: hooks.RootChange, *, by: User) -> None:
    """Write a first root, or one that took another's place, into the person's chain, and tell them by mail."""
    hooks.root_changed.send(sender=User, user=by, change=change)
    note_change(of=by, kind=WayChange.SIGNING_KEY_REPLACED if change.old else WayChange.SIGNING_KEY_SET)
