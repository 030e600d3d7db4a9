"""What attributes are called, for pages that show them to the person they belong to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from pkm import scopes
from pkm.registry import starter
from pkm.registry.models import Domain, ScopeEntry, SensitivityTier
from pkm.registry.vocabulary import for_script, humanised, word


@dataclass(frozen=True)
class Attribute:
    """One attribute in words. `own` is one that the person added: its segment says how sensitive it is."""

    path: str
    name: str
    label: str
    own: bool
    sensitive: bool
    word: dict[str, Any]


@dataclass(frozen=True)
class Group:
    """The attributes of one domain, in the order they were given."""

    domain: str
    label: str
    icon: str
    attributes: list[Attribute] = field(default_factory=list)


def translated(label: str) -> str:
    """A registry's label in the page's language, where a translation is known."""
    return gettext(label) if label else ""


def verb_phrase(entry: ScopeEntry) -> str:
    """What an app does that asks for this scope, after its name: "asks what you eat".

    An entry that staff made or renamed may mean something else than the starter list's; its label stands for it then.
    """
    phrase = starter.verb_phrase(entry.scope, entry.scope_label)
    return translated(phrase) or gettext("asks for %(scope)s") % {"scope": translated(entry.scope_label)}


def described(paths: Iterable[str]) -> list[Group]:
    """These paths in words, grouped by domain in the registry's order; two queries."""
    return described_each([paths])[0]


def described_each(lists: Iterable[Iterable[str]]) -> list[list[Group]]:
    """The same for each of several lists; two queries, however many there are."""
    split = [{path: parts for path in paths if (parts := scopes.split_path(path)) is not None} for paths in lists]
    every = {path: parts for one in split for path, parts in one.items()}
    entries = ScopeEntry.objects.filter(scope__in=[f"attr.{path}" for path in every] + _segments_of(every.values()))
    known = {
        scope: (label, tier) for scope, label, tier in entries.values_list("scope", "scope_label", "sensitivity_tier")
    }
    domains = list(Domain.objects.filter(domain_key__in={domain for domain, _, _ in every.values()}))
    attributes = {path: _attribute(path, parts, known) for path, parts in every.items()}
    return [_grouped(one, domains, attributes) for one in split]


def _attribute(path: str, parts: tuple[str, str, str], known: dict[str, tuple[str, str]]) -> Attribute:
    domain, segment, name = parts
    label, tier = known.get(f"attr.{path}", ("", ""))
    _, tier = ("", tier) if tier else known.get(f"attr.{domain}.{segment}.*", ("", SensitivityTier.RESTRICTED))
    text = translated(label) if label else humanised(name)
    return Attribute(path, name, text, not label, tier != SensitivityTier.STANDARD, for_script(word(path), text))


def _grouped(
    paths: dict[str, tuple[str, str, str]], domains: list[Domain], attributes: dict[str, Attribute]
) -> list[Group]:
    groups = {
        domain.domain_key: Group(domain.domain_key, translated(domain.display_name), domain.icon) for domain in domains
    }
    for path, (domain, _, _) in paths.items():
        groups.setdefault(domain, Group(domain, humanised(domain), "star")).attributes.append(attributes[path])
    return [group for group in groups.values() if group.attributes]


def _segments_of(parts: Iterable[tuple[str, str, str]]) -> list[str]:
    return sorted({f"attr.{domain}.{segment}.*" for domain, segment, _ in parts})


def label_of_scope(scope: str) -> str:
    """The registry's name for a scope, or the scope itself where the registry has forgotten it."""
    label = ScopeEntry.objects.filter(scope=scope).values_list("scope_label", flat=True).first()
    return translated(label) if label else scope


def scope_labels(named: Iterable[str]) -> dict[str, str]:
    """The same for many scopes; one query. A scope that the registry has forgotten stands for itself."""
    wanted = {scope for scope in named if scope}
    known = dict(ScopeEntry.objects.filter(scope__in=wanted).values_list("scope", "scope_label"))
    return {scope: translated(known.get(scope, "")) or scope for scope in wanted}
