"""What is left of the old system, and how far it has been moved."""

from typing import Any

from django.db.models import Count, QuerySet

from accounts.models import User
from common import encryption
from common.clock import rfc3339
from pkm.legacy.models import LegacyBlob, MigrationState
from pkm.legacy.rows import SOURCE


def people_by_status() -> dict[str, int]:
    """Status → how many people's migrations stand there."""
    people = MigrationState.objects.filter(user__isnull=False)
    return dict(people.values_list("status").annotate(Count("pk")).order_by("status"))


def file_states() -> "QuerySet[MigrationState]":
    return MigrationState.objects.filter(user__isnull=True).order_by("pk")


def rows_left() -> int:
    """How many old rows wait for their owners."""
    return LegacyBlob.objects.count()


def rows_to_import(user: User) -> int:
    """How many old rows wait for this person's next unlock."""
    return LegacyBlob.objects.filter(user=user).count()


def old_data(user: User) -> dict[str, Any]:
    """The person's old rows as they are, and where moving them stands; two queries.

    {"status" (`absent` where there never were any), "moved": [domains], "at": the browser's own checkpoint, "counts",
    "last_error", "blobs": [{"domain", "jwe", "updated_at"}]}.
    """
    state = MigrationState.objects.filter(user=user, source=SOURCE).first()
    blobs = LegacyBlob.objects.filter(user=user).order_by("domain")
    return {**state_body(state), "blobs": [_blob(blob) for blob in blobs]}


def _blob(blob: LegacyBlob) -> dict[str, str]:
    return {"domain": blob.domain, "jwe": encryption.opened(blob.jwe), "updated_at": rfc3339(blob.updated_at)}


def state_body(state: MigrationState | None) -> dict[str, Any]:
    """Where a person's migration stands, for them."""
    checkpoint: dict[str, Any] = state.checkpoint if state else {}
    return {
        "status": state.status if state else "absent",
        "moved": sorted(checkpoint.get("moved", {})),
        "at": checkpoint.get("at"),
        "counts": state.counts if state else {},
        "last_error": state.last_error if state else "",
    }
