"""What may be known of what somebody keeps. Nothing here is a value; sealed text is handed out only to its owner."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Concat

from accounts.models import User
from common.clock import rfc3339
from pkm import scopes
from pkm.history.models import Index
from pkm.registry.models import ScopeEntry
from pkm.segments.models import Blob, ManifestPath

# a domain and a segment of it
Pair = tuple[str, str]


@dataclass(frozen=True)
class StoredData:
    """What one person keeps and hides."""

    hidden: set[str]
    names: dict[Pair, set[str]]
    blobs: dict[Pair, dict[str, Any]]


def sealed_segments(user: User, *, scope: str | None = None, domain: str | None = None) -> list[dict[str, Any]]:
    """The current segments that a scope covers or a domain holds, all of them without either; two queries."""
    parsed = scopes.parse(scope) if scope is not None else scopes.Scope(domain=domain)
    if parsed is None:
        return []
    blobs = Blob.objects.filter(user=user, is_current=True, ciphertext__isnull=False).defer("resealed")
    names = ManifestPath.objects.filter(manifest__user=user, manifest__is_current=True)
    if parsed.domain is not None:
        blobs, names = blobs.filter(domain=parsed.domain), names.filter(manifest__domain=parsed.domain)
    if parsed.segment is not None:
        blobs, names = blobs.filter(segment_id=parsed.segment), names.filter(segment_id=parsed.segment)
    attributes = names_by_segment(names)
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


def stored_attributes(user: User) -> dict[Pair, set[str]]:
    """(domain, segment) → the names of the attributes that this person keeps there; one query."""
    names = ManifestPath.objects.filter(manifest__user=user, manifest__is_current=True)
    return {pair: set(found) for pair, found in names_by_segment(names).items()}


def current_revisions(user: User, pairs: Iterable[Pair], *, lock: bool = False) -> dict[Pair, int]:
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


def segment_attributes(domain: str, segment_id: str) -> list[str] | None:
    """The canonical attribute names of a segment of an active domain, or None where the registry has no such one."""
    entry = (
        ScopeEntry.objects.filter(scope=f"attr.{domain}.{segment_id}.*", domain__is_active=True)
        .values_list("attributes", flat=True)
        .first()
    )
    return None if entry is None else [path.split(".")[2] for path in entry]


def count_people_with_data_in(pairs: Iterable[str]) -> int:
    """How many people keep something in any of these `domain.segment` pairs."""
    wanted = set(pairs)
    blobs = Blob.objects.filter(is_current=True, ciphertext__isnull=False).annotate(
        pair=Concat("domain", Value("."), "segment_id")
    )
    return blobs.filter(pair__in=wanted).values("user").distinct().count()


def names_by_segment(paths: Any) -> dict[Pair, list[str]]:
    found: dict[Pair, list[str]] = {}
    rows = paths.order_by("pk").values_list("path", F("manifest__domain"), "segment_id")
    for path, domain, segment in rows:
        found.setdefault((domain, segment), []).append(path.split(".")[2])
    return found
