"""Writing and deleting sealed segments. Nothing is overwritten unseen, and nothing here can open one.

A segment has the name of one that the registry knows, in a domain that is active; what a person adds of their own are
attributes in it, and the scope of the segment covers them. So no scope that nobody can ask for ever comes to be, and
staff see no names of domains that somebody made up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.models import User
from common.clock import rfc3339
from common.problems import InvalidRequest, NotFound
from pkm import scopes, sealed
from pkm.errors import ReservedName, SegmentMismatch, StaleRevision, TooManyAttributes
from pkm.history.events import locked_index, record
from pkm.history.models import EventKind, Index
from pkm.notes import VaultNotes
from pkm.registry.models import ScopeEntry
from pkm.segments.exposure import registry_facts
from pkm.segments.models import Blob, Manifest, ManifestPath
from pkm.segments.queries import segment_attributes
from pkm.segments.storage import make_room, refuse_beyond_quota, storage_of
from pkm.vault.models import IN_USE, KeyWrapper, VaultKey
from pkm.vault.queries import not_in_use

MOST_ATTRIBUTES = 500  # in one segment
KEPT_REVISIONS = 10


@dataclass(frozen=True)
class _Address:
    user: User
    domain: str
    segment_id: str

    def blobs(self) -> Any:
        blobs = Blob.objects.filter(user=self.user, domain=self.domain, segment_id=self.segment_id)
        return blobs.defer("resealed")


@transaction.atomic
def write_segment(
    *, by: User, domain: str, segment_id: str, jwe: str, base_content_revision: int, attributes: Sequence[str]
) -> dict[str, Any]:
    """Keep the next revision of a segment, with the index, manifest and history that go with it.

    Returns {"domain", "segment_id", "content_revision", "manifest_revision", "attributes", "size_bytes",
    "updated_at"}. Raises `NotFound`, `TooManyAttributes`, `InvalidRequest`, `ReservedName`, `VaultAbsent`,
    `StaleRevision`, `SegmentMismatch`, `QuotaExceeded`.
    """
    canonical = segment_attributes(domain, segment_id)
    if canonical is None:
        raise NotFound(f"There is no segment {domain[:64]}.{segment_id[:64]}.")
    _check_names(attributes)
    if own := set(attributes).difference(canonical):
        _refuse_answers([f"{domain}.{segment_id}.{name}" for name in own], of=by)
    address = _Address(by, domain, segment_id)
    index = locked_index(by)
    key_id = VaultKey.objects.filter(user=by, vault_status__in=IN_USE).values_list("key_id", flat=True).first()
    if key_id is None:
        raise not_in_use(by)
    current = address.blobs().filter(is_current=True).first()
    _compare(current, base_content_revision)
    revision = base_content_revision + 1
    check_sealed(jwe, by=by, key_id=key_id, domain=domain, segment_id=segment_id, content_revision=revision)
    storage = storage_of(by)
    replaced_bytes = current.size_bytes if current is not None and current.ciphertext is not None else None
    refuse_beyond_quota(storage=storage, size_bytes=len(jwe), replaces_bytes=replaced_bytes)
    written = _advance(address, index, current, jwe, list(attributes))
    if storage.quota.bytes and storage.used_bytes + len(jwe) > storage.quota.bytes:
        make_room(user=by, most_bytes=storage.quota.bytes)
    return written


@transaction.atomic
def delete_segment(*, by: User, domain: str, segment_id: str, base_content_revision: int) -> dict[str, Any]:
    """Delete every revision of a segment. A tombstone is its next revision, from which counting goes on.

    Returns what `write_segment` does, without attributes. Raises `NotFound`, `StaleRevision`.
    """
    address = _Address(by, domain, segment_id)
    index = locked_index(by)
    current = address.blobs().filter(is_current=True).first()
    if current is None or (current.ciphertext is None and current.content_revision == base_content_revision):
        raise NotFound(f"You keep nothing in {domain[:64]}.{segment_id[:64]}.")
    _compare(current, base_content_revision)
    return _advance(address, index, current, None, [])


@transaction.atomic
def destroy_vault(*, of: User) -> None:
    """Delete all that this person keeps and every way into their vault; the history of changes stays."""
    locked_index(of)
    for record_of in (Blob, Manifest, KeyWrapper, VaultNotes, VaultKey, Index):
        record_of._default_manager.filter(user=of).delete()


def _check_names(attributes: Sequence[str]) -> None:
    if len(attributes) > MOST_ATTRIBUTES:
        raise TooManyAttributes(f"A segment holds at most {MOST_ATTRIBUTES} attributes.")
    if len(set(attributes)) != len(attributes) or not all(map(scopes.is_name, attributes)):
        raise InvalidRequest("Attribute names are lower-case letters, digits and underscores, each named once.")


def _refuse_answers(own: Sequence[str], *, of: User) -> None:
    """Attributes of the person's own that have an answer's name; one from before there was the answer may stay."""
    taken = ScopeEntry.objects.filter(scope__in=[f"attr.{path}" for path in own], derived__isnull=False)
    paths = {scope.removeprefix("attr.") for scope in taken.values_list("scope", flat=True)}
    if paths:
        kept = ManifestPath.objects.filter(manifest__user=of, manifest__is_current=True, path__in=paths)
        if new := sorted(paths.difference(kept.values_list("path", flat=True))):
            raise ReservedName(f"Apps ask by this name for an answer, so choose another: {', '.join(new)}.")


def _compare(current: Blob | None, base: int) -> None:
    revision = current.content_revision if current else 0
    if revision != base:
        raise StaleRevision(
            f"The current revision is {revision}, not {base}. Read it, then write again.",
            current_content_revision=revision,
        )


def check_sealed(jwe: str, *, by: User, key_id: str, domain: str, segment_id: str, content_revision: int) -> None:
    """Raises `SegmentMismatch` where this is sealed under another key or for another person, address or revision."""
    try:
        sealed.check_segment_header(
            sealed.read_header(jwe),
            key_id=key_id,
            user_id=by.public_id,
            domain=domain,
            segment_id=segment_id,
            content_revision=content_revision,
        )
    except sealed.InvalidHeader as unfit:
        raise SegmentMismatch(f"The sealed segment: {unfit}.", member=unfit.member) from None


def _advance(
    address: _Address, index: Index, current: Blob | None, jwe: str | None, attributes: list[str]
) -> dict[str, Any]:
    """Put the next revision in place of `current`; the caller holds the index row and has compared."""
    revision = current.content_revision + 1 if current else 1
    manifest = _manifest(address, attributes)
    # before the next: one current at any time, and what was re-sealed is not what counts any more
    address.blobs().filter(is_current=True).update(is_current=False, resealed=None, resealed_sha256="")
    blob = Blob.objects.create(
        user=address.user,
        domain=address.domain,
        segment_id=address.segment_id,
        ciphertext=jwe,
        content_revision=revision,
        manifest_revision=manifest.manifest_revision,
        size_bytes=len(jwe or ""),
    )
    # what was deleted is gone at once, older revisions included
    outdated = address.blobs().filter(content_revision__lte=revision - (1 if jwe is None else KEPT_REVISIONS))
    outdated.delete()
    _rewrite_index(index, address, len(attributes), blob.created_at)
    record(
        address.user,
        EventKind.SEGMENT_WRITTEN if jwe is not None else EventKind.SEGMENT_DELETED,
        domain=address.domain,
        segment_id=address.segment_id,
        content_revision=revision,
        size_bytes=blob.size_bytes,
    )
    return {
        "domain": address.domain,
        "segment_id": address.segment_id,
        "content_revision": revision,
        "manifest_revision": manifest.manifest_revision,
        "attributes": attributes,
        "size_bytes": blob.size_bytes,
        "updated_at": rfc3339(blob.created_at),
    }


def _manifest(address: _Address, attributes: list[str]) -> Manifest:
    """The manifest that lists these attributes: the current one, or a new one where the domain's set changed.

    Paths of other segments go over to the new one, so that one that is not current has none.
    """
    current = Manifest.objects.filter(user=address.user, domain=address.domain, is_current=True).first()
    known = list(current.paths.values_list("segment_id", "path")) if current else []
    kept = [segment_id for segment_id, _ in known if segment_id != address.segment_id]
    names = {path.split(".")[2] for segment_id, path in known if segment_id == address.segment_id}
    if current is not None and names == set(attributes):
        return current
    if current is not None:
        current.is_current = False
        current.save(update_fields=["is_current"])
    manifest = Manifest.objects.create(
        user=address.user,
        domain=address.domain,
        manifest_revision=current.manifest_revision + 1 if current else 1,
        segment_ids=sorted({*kept, *([address.segment_id] if attributes else [])}),
        path_count=len(kept) + len(attributes),
    )
    if current is not None:
        current.paths.filter(segment_id=address.segment_id).delete()
        current.paths.update(manifest=manifest)
    ManifestPath.objects.bulk_create(_paths(address, attributes, manifest))
    record(
        address.user,
        EventKind.MANIFEST_CHANGED,
        domain=address.domain,
        manifest_revision=manifest.manifest_revision,
        path_count=manifest.path_count,
    )
    return manifest


def _paths(address: _Address, attributes: list[str], manifest: Manifest) -> list[ManifestPath]:
    base = f"{address.domain}.{address.segment_id}"
    entries = {entry.scope: entry for entry in ScopeEntry.objects.filter(scope__startswith=f"attr.{base}.")}
    facts = {name: registry_facts(entries, f"{base}.{name}") for name in attributes}
    return [
        ManifestPath(manifest=manifest, path=f"{base}.{name}", segment_id=address.segment_id, **facts[name])
        for name in attributes
    ]


def _rewrite_index(index: Index, address: _Address, count: int, at: datetime) -> None:
    """Counts and freshness after a change `at`; a segment without attributes is not held."""
    projection = index.summary_projection
    segments = {name: number for name, number in projection.get(address.domain, {}).items() if number}
    segments.pop(address.segment_id, None)
    if count:
        segments[address.segment_id] = count
    projection.pop(address.domain, None)
    index.domain_freshness.pop(address.domain, None)
    if segments:
        projection[address.domain] = segments
        index.domain_freshness[address.domain] = rfc3339(at)
    index.available_domains = sorted(projection)
    index.total_attributes = sum(number for counts in projection.values() for number in counts.values())
    index.save()
