"""What the pages of the vault show: names, counts and times. Nothing here is a value."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Q, Subquery

from accounts.models import User
from common.clock import rfc3339
from pkm import scopes
from pkm.history.models import Index
from pkm.registry.labels import translated
from pkm.registry.models import Domain, ScopeEntry
from pkm.registry.queries import hidden_scopes
from pkm.segments.models import Blob, Manifest
from pkm.segments.queries import StoredData, stored_attributes
from pkm.vault.models import KeyWrapper, VaultKey

_NONE = {"closed": 0, "confidential": 0, "restricted": 0}
_PRIMARY = KeyWrapper.objects.filter(wrapper_id=OuterRef("primary_wrapper_id")).values("label")


def my_data(user: User) -> list[dict[str, Any]]:
    """The active domains with what the registry offers and what this person keeps in them; five queries.

    Each: {"domain", "label", "description", "icon", "scope", "hidden", "sensitivity_tier", "updated_at",
    "stored_count" (of its attributes), "segments": [{"segment_id", "label", "description", "scope", "hidden",
    "sensitivity_tier", "content_revision" (the base of the next write, whether or not anything is kept), "size_bytes",
    "updated_at", "attributes": [{"name", "label", "description", "is_stored"}], "own_attributes": [names]}]}.
    """
    blobs = Blob.objects.filter(user=user, is_current=True).values(
        "domain", "segment_id", "content_revision", "size_bytes", "created_at"
    )
    mine = StoredData(
        hidden_scopes(user),
        stored_attributes(user),
        {(blob["domain"], blob["segment_id"]): dict(blob) for blob in blobs},
    )
    domains = Domain.objects.filter(is_active=True).prefetch_related(
        Prefetch("scope_entries", ScopeEntry.objects.order_by("pk"))
    )
    return [_domain_card(domain, mine) for domain in domains]


def vault_summary(user: User) -> dict[str, Any]:
    """What the person's index row says, by column; nothing of anything where they have none."""
    empty: dict[str, Any] = {
        "available_domains": [],
        "domain_freshness": {},
        "summary_projection": {},
        "total_attributes": 0,
        "capability_flags": {},
    }
    row = Index.objects.filter(user=user).values(*empty).first()
    return dict(row) if row else empty


def _domain_card(domain: Domain, mine: StoredData) -> dict[str, Any]:
    entries = {entry.scope: entry for entry in domain.scope_entries.all()}
    key = domain.domain_key
    whole = f"attr.{key}.*"
    segments = [
        _segment_card(entry, entries, mine)
        for entry in entries.values()
        if (parsed := scopes.parse(entry.scope)) and parsed.segment and not parsed.attribute
    ]
    return {
        "domain": key,
        "label": domain.display_name,
        "description": domain.description,
        "icon": domain.icon,
        "scope": whole,
        "hidden": whole in mine.hidden,
        "sensitivity_tier": entries[whole].sensitivity_tier if whole in entries else "standard",
        "updated_at": max((card["updated_at"] for card in segments if card["updated_at"]), default=None),
        "stored_count": sum(len(names) for (kept_in, _), names in mine.names.items() if kept_in == key),
        "segments": segments,
    }


def _segment_card(entry: ScopeEntry, entries: dict[str, ScopeEntry], mine: StoredData) -> dict[str, Any]:
    _, domain, segment, _ = entry.scope.split(".")
    names = mine.names.get((domain, segment), set())
    blob = mine.blobs.get((domain, segment))
    canonical = [path.split(".")[2] for path in entry.attributes]
    offered = {name: entries.get(f"attr.{domain}.{segment}.{name}") for name in canonical}
    return {
        "segment_id": segment,
        "label": entry.scope_label,
        "description": entry.description,
        "scope": entry.scope,
        "hidden": entry.scope in mine.hidden,
        "sensitivity_tier": entry.sensitivity_tier,
        "content_revision": blob["content_revision"] if blob else 0,
        "size_bytes": blob["size_bytes"] if blob else 0,
        "updated_at": rfc3339(blob["created_at"]) if blob and blob["size_bytes"] else None,
        "attributes": [
            {
                "name": name,
                "label": found.scope_label if found else name.replace("_", " ").capitalize(),
                "description": found.description if found else "",
                "is_stored": name in names,
            }
            for name, found in offered.items()
        ],
        "own_attributes": sorted(names - set(canonical)),
    }


@dataclass(frozen=True)
class DomainSummary:
    """One domain that holds something: how many attributes, of how many the own scope is not exposed, how sensitive."""

    label: str
    stored_count: int
    closed: int
    confidential: int
    restricted: int
    changed_at: datetime


def vault_overview(user: User) -> dict[str, Any]:
    """{"domains": [DomainSummary], "total": attributes, "can": capabilities, "vault": its row}; four queries.

    The row has `opens_with` too, the label of its primary wrapper.
    """
    row = vault_summary(user)
    domains_kept = Domain.objects.filter(domain_key__in=row["available_domains"])
    counted = _counted(user)
    domains = [
        DomainSummary(
            label=translated(name),
            stored_count=sum(row["summary_projection"][domain].values()),
            **counted.get(domain, _NONE),
            changed_at=datetime.fromisoformat(row["domain_freshness"][domain]),
        )
        for domain, name in domains_kept.values_list("domain_key", "display_name")
    ]
    vault = VaultKey.objects.filter(user=user).annotate(opens_with=Subquery(_PRIMARY)).first()
    return {"domains": domains, "total": row["total_attributes"], "can": row["capability_flags"], "vault": vault}


def _counted(user: User) -> dict[str, dict[str, int]]:
    """Domain → {"closed", "confidential", "restricted"}: attributes of its current manifest, as exposed and as kept."""
    rows = Manifest.objects.filter(user=user, is_current=True)
    counted = rows.annotate(
        closed=Count("paths", filter=Q(paths__exposure_eligible=False)),
        confidential=Count("paths", filter=Q(paths__sensitivity_tier="confidential")),
        restricted=Count("paths", filter=Q(paths__sensitivity_tier="restricted")),
    )
    return {domain: dict(zip(_NONE, counts, strict=True)) for domain, *counts in counted.values_list("domain", *_NONE)}
