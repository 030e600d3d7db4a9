"""Does the index row tell the truth? Everything it and the manifests say, compared with the segments themselves.

People are looked at in batches, so that memory stays flat however many there are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from common.clock import rfc3339
from pkm.history.models import Event, Index
from pkm.registry.models import ScopeEntry
from pkm.segments.exposure import registry_facts
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.vault.capabilities import capabilities_of
from pkm.vault.models import IN_USE, KeyWrapper, VaultKey

_AT_ONCE = 500  # people


@dataclass(frozen=True)
class Flaw:
    """One thing that is told otherwise than it is. `user_id` is the person's own ID."""

    user_id: str
    reason: str


@dataclass
class _Found:
    """What one person's segments, manifests, wrappers and events say."""

    names: dict[str, dict[str, int]] = field(default_factory=dict)  # domain → segment → attributes
    changed: dict[str, datetime] = field(default_factory=dict)  # domain → its newest change
    manifests: list[Manifest] = field(default_factory=list)
    sealed: set[tuple[str, str]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    has_vault: bool = False
    outdated_paths: int = 0
    events: int = 0
    newest_event: int = 0


def flaws(*, people: list[int] | None = None) -> Iterator[Flaw]:
    """Of everybody, or of the people with these primary keys."""
    entries = {entry.scope: entry for entry in ScopeEntry.objects.all()}
    last = 0
    while rows := _next_rows(last, people):
        last = rows[-1].user_id
        found = _found([row.user_id for row in rows], entries)
        for row in rows:
            yield from (Flaw(row.user.public_id, reason) for reason in _reasons(row, found[row.user_id]))
    yield from _without_row(people)


def _next_rows(last: int, people: list[int] | None) -> list[Index]:
    rows = Index.objects.select_related("user").filter(user__gt=last).order_by("user")
    return list((rows if people is None else rows.filter(user__in=people))[:_AT_ONCE])


def _without_row(people: list[int] | None) -> Iterator[Flaw]:
    """Who keeps something, or has a vault, and has no row that tells of it."""
    for model, what in ((VaultKey, "a vault"), (Blob, "segments")):
        rows = model._default_manager.filter(user__pkm_index=None)
        for user_id in (
            (rows if people is None else rows.filter(user__in=people))
            .values_list("user__public_id", flat=True)
            .distinct()
        ):
            yield Flaw(user_id, f"there is {what} and no index row")


def _found(people: list[int], entries: Mapping[str, ScopeEntry]) -> dict[int, _Found]:
    found = {person: _Found() for person in people}
    current = {"user__in": people, "is_current": True}
    for manifest in Manifest.objects.filter(**current).order_by("pk"):
        found[manifest.user_id].manifests.append(manifest)
    paths = ManifestPath.objects.filter(manifest__user__in=people, manifest__is_current=True)
    for path in paths.select_related("manifest").order_by("pk"):
        _count_path(found[path.manifest.user_id], path, entries)
    for blob in Blob.objects.filter(**current).values("user", "domain", "segment_id", "size_bytes", "created_at"):
        of = found[blob["user"]]
        if blob["size_bytes"]:
            of.sealed.add((blob["domain"], blob["segment_id"]))
        of.changed[blob["domain"]] = max(blob["created_at"], of.changed.get(blob["domain"], blob["created_at"]))
    for user_pk, kind in KeyWrapper.objects.filter(user__in=people, removed_at=None).values_list("user", "kind"):
        found[user_pk].kinds.add(kind)
    for user_pk in VaultKey.objects.filter(user__in=people, vault_status__in=IN_USE).values_list("user", flat=True):
        found[user_pk].has_vault = True
    events = Event.objects.filter(user__in=people).values("user").annotate(n=Count("pk"), newest=Max("sequence"))
    for row in events.order_by("user"):
        found[row["user"]].events, found[row["user"]].newest_event = row["n"], row["newest"]
    return found


def _count_path(of: _Found, path: ManifestPath, entries: Mapping[str, ScopeEntry]) -> None:
    segments = of.names.setdefault(path.manifest.domain, {})
    segments[path.segment_id] = segments.get(path.segment_id, 0) + 1
    facts = registry_facts(entries, path.path)
    of.outdated_paths += any(getattr(path, name) != value for name, value in facts.items())


def _reasons(row: Index, found: _Found) -> Iterator[str]:
    freshness = {domain: rfc3339(at) for domain, at in found.changed.items() if domain in found.names}
    yield from _differing(
        ("summary_projection", row.summary_projection, found.names),
        ("available_domains", row.available_domains, sorted(found.names)),
        ("domain_freshness", row.domain_freshness, freshness),
        ("total_attributes", row.total_attributes, sum(sum(counts.values()) for counts in found.names.values())),
        ("capability_flags", row.capability_flags, capabilities_of(has_vault=found.has_vault, kinds=found.kinds)),
        ("the newest event", found.newest_event, found.events),
    )
    for manifest in found.manifests:
        named = found.names.get(manifest.domain, {})
        yield from _differing(
            (f"the manifest of {manifest.domain}: path_count", manifest.path_count, sum(named.values())),
            (f"the manifest of {manifest.domain}: segment_ids", sorted(manifest.segment_ids), sorted(named)),
        )
    for domain, segments in found.names.items():
        for segment in sorted(segments):
            if (domain, segment) not in found.sealed:
                yield f"attributes of {domain}.{segment} are listed, and nothing is kept there"
    if found.outdated_paths:
        yield f"{found.outdated_paths} paths say something else than the registry about their scope"


def _differing(*compared: tuple[str, Any, Any]) -> Iterator[str]:
    for what, stored, actual in compared:
        if stored != actual:
            yield f"{what} is told as {stored!r}, and is {actual!r}"
