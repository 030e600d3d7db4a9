"""Installs the registry that a deployment starts with: the domains, and every scope over their attributes."""

from typing import Any

from django.utils.translation import gettext_noop

from pkm import scopes
from pkm.starter_domains import DOMAINS, Segment

_CONFIDENTIAL = {"contact", "location", "demographics"}
_RESTRICTED = {"financial"}


def install_starter_registry(apps: Any) -> None:
    """Add whatever of the starter registry is missing; entries that staff changed stay as they are.

    `apps` is a registry of models: a migration's historical one, or `django.apps.apps`.
    """
    domain_model = apps.get_model("pkm", "Domain")
    entry_model = apps.get_model("pkm", "ScopeEntry")
    domains = {}
    for position, domain in enumerate(DOMAINS, start=1):
        domains[domain.name], _ = domain_model.objects.get_or_create(
            domain_key=domain.name,
            defaults={
                "display_name": domain.label,
                "description": domain.description,
                "icon": domain.name,
                "position": position * 10,
            },
        )
    present = set(entry_model.objects.values_list("scope", flat=True))
    entry_model.objects.bulk_create(
        entry_model(**{**fields, "domain": domains.get(fields.pop("domain"))})
        for fields in starter_entries()
        if fields["scope"] not in present
    )


def remove_starter_registry(apps: Any) -> None:
    """The way back: the starter's own scopes, then the domains that nothing else uses."""
    entry_model = apps.get_model("pkm", "ScopeEntry")
    entry_model.objects.filter(scope__in=[fields["scope"] for fields in starter_entries()]).delete()
    apps.get_model("pkm", "Domain").objects.filter(
        domain_key__in=[domain.name for domain in DOMAINS], scope_entries__isnull=True
    ).delete()


def starter_entries() -> list[dict[str, Any]]:
    """Every scope of the starter registry as the fields of its entry; `domain` is the domain's key or None."""
    entries: list[dict[str, Any]] = []
    for domain in DOMAINS:
        entries.append(
            _entry(
                f"attr.{domain.name}.*",
                domain.name,
                domain.whole,
                domain.description,
                [(domain.name, segment) for segment in domain.segments],
            )
        )
        for segment in domain.segments:
            base = f"attr.{domain.name}.{segment.name}"
            held = [(domain.name, segment)]
            entries.append(_entry(f"{base}.*", domain.name, segment.label, segment.description, held))
            entries.extend(
                _entry(f"{base}.{name}", domain.name, label, description, held, only=name)
                for name, label, description in segment.attributes
            )
    everything = _entry(
        scopes.EVERYTHING,
        None,
        gettext_noop("Everything you keep"),
        gettext_noop("All of your data, in every domain."),
        [(domain.name, segment) for domain in DOMAINS for segment in domain.segments],
    )
    # it covers restricted data, so it is as sensitive as that; nobody can ask for it until staff expose it
    entries.append(everything | {"sensitivity_tier": "restricted", "exposure_enabled": False})
    return entries


def _entry(
    scope: str, domain: str | None, label: str, description: str, held: list[tuple[str, Segment]], only: str = ""
) -> dict[str, Any]:
    tier = "restricted" if domain in _RESTRICTED else "confidential" if domain in _CONFIDENTIAL else "standard"
    return {
        "scope": scope,
        "scope_handle": scopes.handle(scope),
        "scope_label": label,
        "description": description,
        "domain": domain,
        "segment_ids": [f"{key}.{segment.name}" for key, segment in held],
        "attributes": [
            f"{key}.{segment.name}.{name}"
            for key, segment in held
            for name, _, _ in segment.attributes
            if only in ("", name)
        ],
        "sensitivity_tier": tier,
        "exposure_enabled": True,
        "max_access_duration": 31536000,
    }
