"""What is asked of the scope registry more than once."""

from typing import TYPE_CHECKING

from pkm import shapes
from pkm.history.models import Index
from pkm.registry import copy as registry_copy
from pkm.registry.models import HiddenScope, ScopeEntry

if TYPE_CHECKING:
    from accounts.models import User


def entry_for(scope: str) -> ScopeEntry | None:
    """The registry's entry, exposed or not, with its domain."""
    return ScopeEntry.objects.select_related("domain").filter(scope=scope).first()


def entry_body(entry: ScopeEntry) -> shapes.ScopeEntry:
    """An entry in the contract's shape (1.2)."""
    return registry_copy.entry_body(
        {**entry.__dict__, "domain__domain_key": entry.domain.domain_key if entry.domain is not None else None}
    )


def is_discoverable(user: "User", entry: ScopeEntry) -> bool:
    """Whether an app may know that this person could approve the scope: the very rule of discovery; three queries."""
    projection = Index.objects.filter(user=user).values_list("summary_projection", flat=True).first()
    hidden = HiddenScope.objects.filter(user=user).values_list("scope", flat=True)
    found = registry_copy.entries().discovered(projection or {}, list(hidden))
    return entry.scope in found.scopes


def hidden_scopes(user: "User") -> set[str]:
    """The scopes that this person keeps out of discovery."""
    return set(HiddenScope.objects.filter(user=user).values_list("scope", flat=True))
