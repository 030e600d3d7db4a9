"""What the service itself knows of a vault, for the one it belongs to: names, numbers and times."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from pkm.registry.labels import scope_labels
from pkm.segments.models import Manifest
from pkm.vault.models import VaultKey
from pkm.web.queries import vault_summary

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True)
class KnownDomain:
    """One domain that holds something: how many attributes, and of how many the own scope is not exposed."""

    label: str
    held: int
    closed: int
    changed_at: datetime


def known(user: "User") -> dict[str, Any]:
    """{"domains": [KnownDomain], "total": attributes, "first", "last": when this vault was unlocked}; four queries."""
    row = vault_summary(user)
    labels = scope_labels(f"attr.{domain}.*" for domain in row["available_domains"])
    hidden = _closed(user)
    domains = [
        KnownDomain(
            label=labels.get(f"attr.{domain}.*", domain),
            held=sum(row["summary_projection"][domain].values()),
            closed=hidden.get(domain, 0),
            changed_at=datetime.fromisoformat(row["domain_freshness"][domain]),
        )
        for domain in row["available_domains"]
    ]
    logins = VaultKey.objects.filter(user=user).values_list("first_login_at", "last_login_at").first()
    first, last = logins or (None, None)
    return {"domains": domains, "total": row["total_attributes"], "first": first, "last": last}


def _closed(user: "User") -> dict[str, int]:
    """Domain → attributes of its current manifest that the registry does not expose."""
    rows = Manifest.objects.filter(user=user, is_current=True)
    counted = rows.annotate(closed=Count("paths", filter=Q(paths__exposure_eligible=False)))
    return dict(counted.values_list("domain", "closed"))
