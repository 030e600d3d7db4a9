"""Keeping scopes out of discovery."""

from django.db import transaction

from accounts.models import User
from common.problems import NotFound
from pkm.history.events import locked_index, record
from pkm.history.models import EventKind
from pkm.registry.models import HiddenScope, ScopeEntry


@transaction.atomic
def hide_scope(*, by: User, scope: str) -> None:
    """Keep a scope, and what lies inside it, out of discovery. Hidden already: nothing changes.

    Requests that wait stay as they are. Raises `NotFound` where the registry has no such scope.
    """
    if not ScopeEntry.objects.filter(scope=scope).exists():
        raise NotFound(f"There is no scope {scope[:210]!r}.")
    locked_index(by)
    _, added = HiddenScope.objects.get_or_create(user=by, scope=scope)
    if added:
        record(by, EventKind.SCOPE_HIDDEN, scope=scope)


@transaction.atomic
def show_scope(*, by: User, scope: str) -> None:
    """Let a scope be discovered again. Not hidden: nothing changes, unless nobody knows it (`NotFound`)."""
    locked_index(by)
    removed, _ = HiddenScope.objects.filter(user=by, scope=scope).delete()
    if removed:
        record(by, EventKind.SCOPE_SHOWN, scope=scope)
    elif not ScopeEntry.objects.filter(scope=scope).exists():
        raise NotFound(f"There is no scope {scope[:210]!r}.")
