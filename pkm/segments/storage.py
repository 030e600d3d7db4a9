"""How much one person may keep, and how much of it is used.

Every revision that still stands counts, the older ones too: they are dropped, oldest first, before anything is refused.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Q, Sum

from accounts.models import User
from common.problems import Problem
from pkm.errors import QuotaExceeded
from pkm.segments.models import Blob

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Quota:
    """What one person may keep: bytes of sealed segments, and segments. 0 is no limit."""

    bytes: int
    segments: int


@dataclass(frozen=True)
class Storage:
    """What one person keeps: bytes of all revisions, bytes of the current ones alone, segments; and their quota."""

    used_bytes: int
    current_bytes: int
    segments: int
    quota: Quota
    verified: bool

    @property
    def percent(self) -> int:
        """How full it is, of 100; what is there at all shows as 1."""
        if not self.quota.bytes:
            return 0
        return min(100, -(-100 * self.current_bytes // self.quota.bytes))


def storage_of(user: User) -> Storage:
    """Two queries."""
    kept = Blob.objects.filter(user=user, ciphertext__isnull=False).aggregate(
        used=Sum("size_bytes", default=0),
        current=Sum("size_bytes", filter=Q(is_current=True), default=0),
        segments=Count("pk", filter=Q(is_current=True)),
    )
    verified = user.has_verified_email
    return Storage(kept["used"], kept["current"], kept["segments"], quota_of(verified=verified), verified)


def quota_of(*, verified: bool) -> Quota:
    """Less before the address is verified: an account costs nothing, and storage does."""
    if verified:
        return Quota(settings.STORAGE_BYTES_PER_PERSON, settings.SEGMENTS_PER_PERSON)
    return Quota(
        _tighter(settings.STORAGE_BYTES_UNVERIFIED, settings.STORAGE_BYTES_PER_PERSON),
        _tighter(settings.SEGMENTS_UNVERIFIED, settings.SEGMENTS_PER_PERSON),
    )


def _tighter(one: int, other: int) -> int:
    return min(one or other, other or one)


def refuse_beyond_quota(*, storage: Storage, size_bytes: int, replaces_bytes: int | None) -> None:
    """Refuse a segment of `size_bytes` in place of one of `replaces_bytes` (None: a new one) that does not fit.

    What takes no more room than it did is never refused, so that whoever is over can always make room.
    """
    quota = storage.quota
    if replaces_bytes is None and quota.segments and storage.segments >= quota.segments:
        raise _exceeded(storage, f"You keep {storage.segments} segments, and there is room for {quota.segments}.")
    grows = size_bytes > (replaces_bytes or 0)
    if quota.bytes and grows and storage.current_bytes - (replaces_bytes or 0) + size_bytes > quota.bytes:
        kept, most = storage.current_bytes / _MIB, quota.bytes / _MIB
        raise _exceeded(storage, f"You keep {kept:.1f} MiB, and there is room for {most:.1f} MiB.")


def make_room(*, user: User, most_bytes: int) -> int:
    """Drop revisions that are not current, oldest first, until all fit in `most_bytes`; returns how many went.

    The caller holds the person's index row.
    """
    kept = Blob.objects.filter(user=user, ciphertext__isnull=False)
    over = kept.aggregate(used=Sum("size_bytes", default=0))["used"] - most_bytes
    dropped: list[int] = []
    for pk, size_bytes in kept.filter(is_current=False).order_by("created_at", "pk").values_list("pk", "size_bytes"):
        if over <= 0:
            break
        over -= size_bytes
        dropped.append(pk)
    if dropped:
        Blob.objects.filter(pk__in=dropped).delete()
    return len(dropped)


def _exceeded(storage: Storage, usage: str) -> Problem:
    way_out = "Delete" if storage.verified else "Confirm your e-mail address to get more room, or delete"
    return QuotaExceeded(
        f"{usage} {way_out} what you no longer need, then try again. Nothing that you keep was changed.",
        used_bytes=storage.current_bytes,
        quota_bytes=storage.quota.bytes,
        segments=storage.segments,
        quota_segments=storage.quota.segments,
    )
