"""What the service itself knows of a vault, for the one it belongs to: names, numbers and times."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, OuterRef, Q, Subquery

from pkm.registry.labels import scope_labels
from pkm.segments.models import Manifest
from pkm.vault.models import KeyWrapper, VaultKey
from pkm.web.queries import vault_summary

if TYPE_CHECKING:
    from accounts.models import User

_NONE = {"closed": 0, "confidential": 0, "restricted": 0}
_PRIMARY = KeyWrapper.objects.filter(wrapper_id=OuterRef("primary_wrapper_id")).values("label")


@dataclass(frozen=True)
class KnownDomain:
    """One domain that holds something: how many attributes, of how many the own scope is not exposed, how sensitive."""

    label: str
    held: int
    closed: int
    confidential: int
    restricted: int
    changed_at: datetime


def known(user: "User") -> dict[str, Any]:
    """{"domains": [KnownDomain], "total": attributes, "can": the vault's capabilities, "vault": its row}; four queries.

    The row has `opens_with` too, the label of its primary wrapper.
    """
    row = vault_summary(user)
    labels = scope_labels(f"attr.{domain}.*" for domain in row["available_domains"])
    counted = _counted(user)
    domains = [
        KnownDomain(
            label=labels.get(f"attr.{domain}.*", domain),
            held=sum(row["summary_projection"][domain].values()),
            **counted.get(domain, _NONE),
            changed_at=datetime.fromisoformat(row["domain_freshness"][domain]),
        )
        for domain in row["available_domains"]
    ]
    vault = VaultKey.objects.filter(user=user).annotate(opens_with=Subquery(_PRIMARY)).first()
    return {
        "domains": domains,
        "total": row["total_attributes"],
        "can": row["capability_flags"],
        "vault": vault,
    }


def _counted(user: "User") -> dict[str, dict[str, int]]:
    """Domain → {"closed", "confidential", "restricted"}: attributes of its current manifest, as exposed and as kept."""
    rows = Manifest.objects.filter(user=user, is_current=True)
    counted = rows.annotate(
        closed=Count("paths", filter=Q(paths__exposure_eligible=False)),
        confidential=Count("paths", filter=Q(paths__sensitivity_tier="confidential")),
        restricted=Count("paths", filter=Q(paths__sensitivity_tier="restricted")),
    )
    return {domain: dict(zip(_NONE, counts, strict=True)) for domain, *counts in counted.values_list("domain", *_NONE)}
