"""What a person's browser tells of moving their old data: how far it is, and that one old row is in the vault."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from accounts.models import User
from common.clock import rfc3339
from common.problems import InvalidRequest, NotFound
from pkm.errors import StaleRevision
from pkm.history.events import locked_index, record
from pkm.history.models import EventKind
from pkm.legacy.models import LegacyBlob, LegacyMetadata, MigrationState, MigrationStatus
from pkm.legacy.queries import state_body
from pkm.legacy.rows import SOURCE
from pkm.segments.queries import current_revisions


@transaction.atomic
def save_progress(
    *, by: User, status: str, at: dict[str, Any] | None, counts: Mapping[str, int], last_error: str
) -> dict[str, Any]:
    """Keep the browser's checkpoint and counts; what was moved and what was kept is counted here. Returns `state_body`.

    `status` is any but completed, which it becomes when the last row has gone. Raises `NotFound` where this
    person never had any, or has none left.
    """
    state = _locked_state(by)
    if state.status == MigrationStatus.COMPLETED:
        raise NotFound("All of your old data has been moved.")
    state.status = status
    state.checkpoint = {**state.checkpoint, "at": at}
    state.counts = {**state.counts, **counts}
    state.last_error = last_error
    state.save()
    return state_body(state)


@transaction.atomic
def finish_domain(
    *, by: User, domain: str, updated_at: str, segments: Mapping[str, int], discard: bool, kept: int
) -> dict[str, Any]:
    """Remove one old row, whose data is in `segments` now: segment → content revision, each of this domain.

    Their revisions are compared under the lock of the person's writes, so what the browser read back is what stands.
    Without segments only where `discard` says that nothing of the row is to be kept. `kept` is how many of its values
    gave way to what the person has now; it is added here and not told as progress, so that a row that is gone through
    again after a break counts once. Returns `state_body`. Raises `InvalidRequest`, `NotFound`,
    `StaleRevision`.
    """
    if bool(segments) == discard:
        raise InvalidRequest("Name the segments that hold the data now, or else discard the row.")
    locked_index(by)
    state = _locked_state(by)
    row = LegacyBlob.objects.filter(user=by, domain=domain).defer("jwe").first()
    if row is None:
        raise NotFound(f"No old data of {domain[:64]} waits here.")
    if rfc3339(row.updated_at) != updated_at:
        raise StaleRevision("Newer old data of this domain came in meanwhile. Read it again.")
    _require_current(by, domain, segments)
    return _remove(row, state, segments, kept)


def _locked_state(user: User) -> MigrationState:
    state = MigrationState.objects.select_for_update().filter(user=user, source=SOURCE).first()
    if state is None:
        raise NotFound("The old system left nothing of yours here.")
    return state


def _require_current(user: User, domain: str, segments: Mapping[str, int]) -> None:
    found = current_revisions(user, _places(domain, segments))
    for place, revision in _places(domain, segments).items():
        if found.get(place) != revision:
            raise StaleRevision(
                f"{'.'.join(place)} is not at revision {revision}. Read it again.",
                current_content_revision=found.get(place, 0),
            )


def _places(domain: str, segments: Mapping[str, int]) -> dict[tuple[str, str], int]:
    return {(domain, segment): revision for segment, revision in segments.items()}


def _remove(row: LegacyBlob, state: MigrationState, segments: Iterable[str], kept: int) -> dict[str, Any]:
    """The one place where old rows leave; what was known about them goes along."""
    for model in (LegacyBlob, LegacyMetadata):
        model.objects.filter(user=row.user_id, domain=row.domain).remove_moved()
    moved = {**state.checkpoint.get("moved", {}), row.domain: row.updated_at.isoformat()}
    left = LegacyBlob.objects.filter(user=row.user_id).exists()
    state.status = MigrationStatus.RUNNING if left else MigrationStatus.COMPLETED
    state.checkpoint = {"moved": moved, "at": state.checkpoint.get("at") if left else None}
    added = {"moved": 1, "kept": kept}
    state.counts = {**state.counts, **{name: state.counts.get(name, 0) + more for name, more in added.items()}}
    state.last_error = ""
    state.save()
    record(row.user, EventKind.MIGRATION_STEP, domain=row.domain, segments=sorted(segments), status=state.status)
    return state_body(state)
