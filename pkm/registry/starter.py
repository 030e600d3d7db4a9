"""The starter list as rows of the registry: the domains, and every scope over their attributes (pure)."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_noop

from pkm import scopes
from pkm.registry.starter_attributes import ATTRIBUTES, Attribute
from pkm.registry.starter_domains import DOMAINS, SEGMENTS, StarterDomain

Row = dict[str, Any]


def starter_domains() -> list[Row]:
    """Every domain of the starter list as the fields of its row."""
    return [
        {
            "domain_key": domain.name,
            "display_name": domain.label,
            "description": domain.description,
            "icon": domain.name,
            "position": position * 10,
        }
        for position, domain in enumerate(DOMAINS, start=1)
    ]


def starter_entries(attributes: Sequence[Attribute] = ATTRIBUTES) -> list[Row]:
    """Every scope over these attributes as the fields of its entry; `domain` is the domain's key or None."""
    held = [attribute for segment in SEGMENTS for attribute in attributes if attribute.segment == segment.path]
    entries = [entry for domain in DOMAINS for entry in _entries_of(domain, held)]
    everything = _entry(
        scopes.EVERYTHING, gettext_noop("Everything you keep"), gettext_noop("All of your data, in every domain."), held
    )
    # it covers restricted data, so it is as sensitive as that; nobody can ask for it until staff expose it
    return [*entries, everything | {"sensitivity_tier": "restricted", "exposure_enabled": False}]


def _entries_of(domain: StarterDomain, held: Sequence[Attribute]) -> list[Row]:
    """The scope of the whole domain, then each segment's and those of its attributes."""
    entries = [_entry(f"attr.{domain.name}.*", domain.whole, domain.description, held, domain)]
    for segment in SEGMENTS:
        if segment.domain == domain.name:
            entries.append(_entry(f"attr.{segment.path}.*", segment.label, segment.description, held, domain))
            entries.extend(
                _entry(f"attr.{attribute.path}", attribute.label, attribute.description, held, domain)
                for attribute in held
                if attribute.segment == segment.path
            )
    return entries


def _entry(
    scope: str, label: str, description: str, held: Sequence[Attribute], domain: StarterDomain | None = None
) -> Row:
    parsed = scopes.parse(scope)
    covered = [attribute for attribute in held if parsed is not None and parsed.covers(attribute.path)]
    return {
        "scope": scope,
        "scope_handle": scopes.handle(scope),
        "scope_label": label,
        "description": description,
        "domain": domain.name if domain else None,
        "segment_ids": list(dict.fromkeys(attribute.segment for attribute in covered)),
        "attributes": [attribute.path for attribute in covered],
        "sensitivity_tier": domain.tier if domain else "standard",
        "exposure_enabled": True,
        "max_access_duration": 31536000,
    }
