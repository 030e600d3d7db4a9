"""What is asked of the scope registry more than once."""

from accounts.models import User
from pkm import shapes
from pkm.registry import copy as registry_copy
from pkm.registry.models import HiddenScope, ScopeEntry


def entry_for(scope: str) -> ScopeEntry | None:
    """The registry's entry, exposed or not, with its domain."""
    return ScopeEntry.objects.select_related("domain").filter(scope=scope).first()


def entry_body(entry: ScopeEntry) -> shapes.ScopeEntry:
    """An entry in the contract's shape (1.2)."""
    return registry_copy.entry_body(
        {**entry.__dict__, "domain__domain_key": entry.domain.domain_key if entry.domain is not None else None}
    )


def is_hidden(user: User, scope: str) -> bool:
    """Whether this person keeps the scope out of discovery, or nobody can be asked for it; two queries."""
    copy = registry_copy.entries()
    entry = copy.by_scope.get(scope)
    return entry is None or copy.hides(entry, hidden_scopes(user))


def hidden_scopes(user: User) -> set[str]:
    """The scopes that this person keeps out of discovery."""
    return set(HiddenScope.objects.filter(user=user).values_list("scope", flat=True))
