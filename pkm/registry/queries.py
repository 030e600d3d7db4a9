"""What is asked of the scope registry more than once."""

from collections.abc import Iterable

from django.utils.translation import gettext

from accounts.models import User
from pkm import shapes
from pkm.registry import copy as registry_copy
from pkm.registry.labels import translated
from pkm.registry.models import HiddenScope, ScopeEntry, SensitivityTier


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


def less_than(scope: str, attributes: Iterable[str] = ()) -> list[str]:
    """For developers: which answers may do in place of these values, or of all of the scope; a sentence each."""
    copy = registry_copy.entries()
    entry = copy.by_scope.get(scope)
    if entry is None:
        return []
    wanted = set(attributes) or set(entry.attributes)
    words = gettext("In place of “%(value)s”, “%(answer)s” may do: %(scope)s (%(tier)s).")
    found = []
    for path, made in entry.answers.items():
        source, answer = copy.by_scope.get(f"attr.{made['from']}"), copy.by_scope[f"attr.{path}"]
        if made["from"] in wanted and source is not None:
            tier = SensitivityTier(answer.sensitivity_tier).label.lower()
            labels = {"value": translated(source.label), "answer": translated(answer.label)}
            found.append(words % {**labels, "scope": answer.scope, "tier": tier})
    return found
