"""What the registry says of each attribute that people keep: the scope that reveals it, its tier, may apps ask for it.

It stands with every path of a manifest as it was when the manifest was made, and is brought up to date whenever the
registry changes, by whatever hand.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import F

from pkm.registry.models import RegistryVersion, ScopeEntry
from pkm.segments.models import ManifestPath

_AT_ONCE = 2_000  # paths that are looked at between two statements


def registry_facts(entries: Mapping[str, ScopeEntry], path: str) -> dict[str, Any]:
    """Of the narrowest scope that reveals this attribute: its own, else its segment's. `entries` are by scope."""
    domain, segment, _ = path.split(".")
    entry = entries.get(f"attr.{path}") or entries.get(f"attr.{domain}.{segment}.*")
    if entry is None:
        return {"exposure_eligible": False}  # the registry lost it: nobody can ask for it
    return {
        "scope_handle": entry.scope_handle,
        "sensitivity_tier": entry.sensitivity_tier,
        "exposure_eligible": entry.exposure_enabled,
    }


def is_due() -> bool:
    """Whether the registry has changed since the manifests were brought up to it."""
    return RegistryVersion.objects.exclude(version=F("in_manifests")).exists()


def bring_paths_up_to_date() -> int:
    """Every path of a current manifest as the registry has it now; returns how many differed.

    One read where the registry has not changed since. Broken off, it begins anew: the version is noted at the end.
    """
    version = RegistryVersion.objects.first()
    if version is None or version.version == version.in_manifests:
        return 0
    entries = {entry.scope: entry for entry in ScopeEntry.objects.all()}
    changed, last = 0, 0
    current = ManifestPath.objects.filter(manifest__is_current=True).order_by("pk")
    while rows := list(current.filter(pk__gt=last)[:_AT_ONCE]):
        changed += sum(_bring(entries, row) for row in rows)
        last = rows[-1].pk
    RegistryVersion.objects.filter(pk=version.pk).update(in_manifests=version.version)
    return changed


def _bring(entries: Mapping[str, ScopeEntry], row: ManifestPath) -> int:
    facts = registry_facts(entries, row.path)
    if all(getattr(row, name) == value for name, value in facts.items()):
        return 0
    return ManifestPath.objects.filter(pk=row.pk).update(**facts)
