"""What may be known of somebody's vault. Nothing here is a value; sealed text is handed out only to its owner."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, Prefetch, Value
from django.db.models.functions import Concat
from django.utils import timezone

from accounts import atrest
from accounts.database import rfc3339
from pkm import registry, scopes
from pkm.models import Blob, Domain, HiddenScope, Index, KeyWrapper, ManifestPath, ScopeEntry, VaultKey

if TYPE_CHECKING:
    from accounts.models import User

RESTORABLE_FOR = timedelta(days=7)

# a domain and a segment of it
Pair = tuple[str, str]


@dataclass(frozen=True)
class _Holdings:
    """What one person keeps and hides."""

    hidden: set[str]
    names: dict[Pair, set[str]]
    blobs: dict[Pair, dict[str, Any]]


def vault_keys(user: "User") -> dict[str, Any]:
    """Contract §2, `GET /vault/keys`; two queries. Without a vault the status is `absent` and the rest empty."""
    vault = VaultKey.objects.filter(user=user).first()
    wrappers = KeyWrapper.objects.filter(user=user, removed_at=None).order_by("pk") if vault else []
    return {
        "user_id": user.public_id,
        "key_id": vault.key_id if vault else None,
        "vault_status": vault.vault_status if vault else "absent",
        "primary_wrapper_id": vault.primary_wrapper_id if vault else None,
        "wrappers": [wrapper_body(wrapper) for wrapper in wrappers],
    }


def wrapper_body(wrapper: KeyWrapper) -> dict[str, Any]:
    """One wrapper as its owner gets it; `jwe` without the server's own layer."""
    return {
        "wrapper_id": wrapper.wrapper_id,
        "kind": wrapper.kind,
        "label": wrapper.label,
        "credential_id": wrapper.credential_id or None,
        "jwe": atrest.opened(wrapper.jwe),
        "created_at": rfc3339(wrapper.created_at),
        "last_used_at": rfc3339(wrapper.last_used_at),
    }


def restorable_since() -> datetime:
    """A wrapper that was removed after this moment can be put back, so that a stolen session locks nobody out."""
    return timezone.now() - RESTORABLE_FOR


def removed_wrappers(user: "User") -> list[dict[str, Any]]:
    """The wrappers that can still be restored, without their sealed text; newest removal first."""
    rows = KeyWrapper.objects.filter(user=user, removed_at__gt=restorable_since()).order_by("-removed_at")
    return [
        {
            "wrapper_id": row.wrapper_id,
            "kind": row.kind,
            "label": row.label,
            "removed_at": rfc3339(row.removed_at),
        }
        for row in rows
    ]


def sealed_segments(user: "User", *, scope: str | None = None, domain: str | None = None) -> list[dict[str, Any]]:
    """The current segments that a scope covers or a domain holds, all of them without either; two queries."""
    parsed = scopes.parse(scope) if scope is not None else scopes.Scope(domain=domain)
    if parsed is None:
        return []
    blobs = Blob.objects.filter(user=user, is_current=True, ciphertext__isnull=False)
    names = ManifestPath.objects.filter(manifest__user=user, manifest__is_current=True)
    if parsed.domain is not None:
        blobs, names = blobs.filter(domain=parsed.domain), names.filter(manifest__domain=parsed.domain)
    if parsed.segment is not None:
        blobs, names = blobs.filter(segment_id=parsed.segment), names.filter(segment_id=parsed.segment)
    attributes = _names_by_segment(names)
    return [
        {
            "domain": blob.domain,
            "segment_id": blob.segment_id,
            "content_revision": blob.content_revision,
            "manifest_revision": blob.manifest_revision,
            "attributes": attributes.get((blob.domain, blob.segment_id), []),
            "jwe": blob.ciphertext,
            "size_bytes": blob.size_bytes,
            "updated_at": rfc3339(blob.created_at),
        }
        for blob in blobs.order_by("domain", "segment_id")
    ]


def held_segments(user: "User") -> dict[Pair, set[str]]:
    """(domain, segment) → the names of the attributes that this person keeps there; one query."""
    names = ManifestPath.objects.filter(manifest__user=user, manifest__is_current=True)
    return {pair: set(found) for pair, found in _names_by_segment(names).items()}


def current_revisions(user: "User", pairs: Iterable[Pair], *, lock: bool = False) -> dict[Pair, int]:
    """(domain, segment) → the current content revision, of the named ones that exist; one query.

    With `lock`, which needs a transaction, the person's writes wait until the caller's transaction ends: what is
    compared with these revisions is then still true at commit.
    """
    if lock:
        Index.objects.select_for_update().filter(user=user).first()
    wanted = set(pairs)
    rows = Blob.objects.filter(
        user=user,
        is_current=True,
        ciphertext__isnull=False,
        domain__in={domain for domain, _ in wanted},
        segment_id__in={segment for _, segment in wanted},
    ).values_list("domain", "segment_id", "content_revision")
    return {(domain, segment): revision for domain, segment, revision in rows if (domain, segment) in wanted}


def entry_for(scope: str) -> ScopeEntry | None:
    """The registry's entry, exposed or not, with its domain."""
    return ScopeEntry.objects.select_related("domain").filter(scope=scope).first()


def entry_body(entry: ScopeEntry) -> dict[str, Any]:
    """An entry in the contract's shape (1.2)."""
    return registry.entry_body(
        {**entry.__dict__, "domain__domain_key": entry.domain.domain_key if entry.domain is not None else None}
    )


def is_discoverable(user: "User", entry: ScopeEntry) -> bool:
    """Whether an app may know that this person could approve the scope: the very rule of discovery; three queries."""
    projection = Index.objects.filter(user=user).values_list("summary_projection", flat=True).first()
    hidden = HiddenScope.objects.filter(user=user).values_list("scope", flat=True)
    found = registry.entries().discovered(projection or {}, list(hidden))
    return entry.scope in found.scopes


def hidden_scopes(user: "User") -> set[str]:
    """The scopes that this person keeps out of discovery."""
    return set(HiddenScope.objects.filter(user=user).values_list("scope", flat=True))


def segment_attributes(domain: str, segment_id: str) -> list[str] | None:
    """The canonical attribute names of a segment of an active domain, or None where the registry has no such one."""
    entry = (
        ScopeEntry.objects.filter(scope=f"attr.{domain}.{segment_id}.*", domain__is_active=True)
        .values_list("attributes", flat=True)
        .first()
    )
    return None if entry is None else [path.split(".")[2] for path in entry]


def people_holding(pairs: Iterable[str]) -> int:
    """How many people keep something in any of these `domain.segment` pairs."""
    wanted = set(pairs)
    held = Blob.objects.filter(is_current=True, ciphertext__isnull=False).annotate(
        pair=Concat("domain", Value("."), "segment_id")
    )
    return held.filter(pair__in=wanted).values("user").distinct().count()


def my_data(user: "User") -> list[dict[str, Any]]:
    """The active domains with what the registry offers and what this person keeps in them; five queries.

    Each: {"domain", "label", "description", "icon", "scope", "hidden", "sensitivity_tier", "updated_at",
    "held" (attributes), "segments": [{"segment_id", "label", "description", "scope", "hidden", "sensitivity_tier",
    "content_revision" (the base of the next write, whether or not anything is kept), "size_bytes", "updated_at",
    "attributes": [{"name", "label", "description", "held"}], "own_attributes": [names]}]}.
    """
    blobs = Blob.objects.filter(user=user, is_current=True).values(
        "domain", "segment_id", "content_revision", "size_bytes", "created_at"
    )
    mine = _Holdings(
        hidden_scopes(user), held_segments(user), {(blob["domain"], blob["segment_id"]): dict(blob) for blob in blobs}
    )
    domains = Domain.objects.filter(is_active=True).prefetch_related(
        Prefetch("scope_entries", ScopeEntry.objects.order_by("pk"))
    )
    return [_domain_card(domain, mine) for domain in domains]


def vault_summary(user: "User") -> dict[str, Any]:
    """The person's index row: {"available_domains", "domain_freshness", "summary_projection", "total_attributes"}."""
    columns = ("available_domains", "domain_freshness", "summary_projection", "total_attributes")
    row = Index.objects.filter(user=user).values(*columns).first()
    return dict(row) if row else dict(zip(columns, ([], {}, {}, 0), strict=True))


def _names_by_segment(paths: Any) -> dict[Pair, list[str]]:
    found: dict[Pair, list[str]] = {}
    rows = paths.order_by("pk").values_list("path", F("manifest__domain"), "segment_id")
    for path, domain, segment in rows:
        found.setdefault((domain, segment), []).append(path.split(".")[2])
    return found


def _domain_card(domain: Domain, mine: _Holdings) -> dict[str, Any]:
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
        "held": sum(len(names) for (held_in, _), names in mine.names.items() if held_in == key),
        "segments": segments,
    }


def _segment_card(entry: ScopeEntry, entries: dict[str, ScopeEntry], mine: _Holdings) -> dict[str, Any]:
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
                "held": name in names,
            }
            for name, found in offered.items()
        ],
        "own_attributes": sorted(names - set(canonical)),
    }
