"""Lines become rows, a batch at a time: the newest of each person's domain stays, and none comes twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from accounts.models import User
from common import encryption
from common.sql.triggers import lifted
from pkm.legacy.lines import BadLine, Line, parsed
from pkm.legacy.models import LegacyBlob, MigrationState, MigrationStatus
from pkm.rules import LEGACY_RULES

SOURCE = "legacy_encrypted_blobs"  # of a person's own migration
Place = tuple[int, str]  # a person's primary key and a domain


@dataclass
class Kept:
    """What became of a batch: how many lines by outcome, and each refused one with its reason."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("imported", "known", "refused"), 0))
    refused: list[tuple[int, str]] = field(default_factory=list)

    def refuse(self, number: int, reason: str) -> None:
        self.counts["refused"] += 1
        self.refused.append((number, reason))


def keep_lines(lines: Iterable[tuple[int, bytes]]) -> Kept:
    """Bring the tables to what these lines say; inside the caller's transaction. Again it changes nothing."""
    kept = Kept()
    newest = _newest(_good(lines, kept), kept)
    states = _locked_states({person for person, _ in newest})
    new = {place: line for place, line in newest.items() if not _was_moved(states.get(place[0]), line)}
    there = _there(new)
    new = {place: line for place, line in new.items() if place not in there or there[place] < line.updated_at}
    _store(new, replaced=new.keys() & there.keys())
    _await_unlock({person for person, _ in new}, states)
    kept.counts["imported"] += len(new)
    kept.counts["known"] += len(newest) - len(new)
    kept.refused.sort()
    return kept


def _good(lines: Iterable[tuple[int, bytes]], kept: Kept) -> list[tuple[int, Line]]:
    good = []
    for number, raw in lines:
        try:
            good.append((number, parsed(raw)))
        except BadLine as bad:
            kept.refuse(number, str(bad))
    return good


def _newest(lines: Sequence[tuple[int, Line]], kept: Kept) -> dict[Place, Line]:
    """By person and domain; of two that changed at the same time the first."""
    emails = {line.email for _, line in lines}
    people = dict(User.objects.filter(email__in=emails).values_list("email", "pk"))
    newest: dict[Place, Line] = {}
    for number, line in lines:
        if line.email not in people:
            kept.refuse(number, "user_email: nobody here has this address")
            continue
        place = (people[line.email], line.domain)
        before = newest.get(place)
        if before is not None:
            kept.counts["known"] += 1
        if before is None or before.updated_at < line.updated_at:
            newest[place] = line
    return newest


def _locked_states(people: set[int]) -> dict[int, MigrationState]:
    """Locked, so that no row is removed meanwhile that the person's browser has just moved."""
    rows = MigrationState.objects.select_for_update().filter(user__in=people, source=SOURCE).order_by("pk")
    return {row.user_id: row for row in rows if row.user_id is not None}


def _was_moved(state: MigrationState | None, line: Line) -> bool:
    """Whether the person has this in the vault already: the same file again must not bring it back."""
    moved = (state.checkpoint if state else {}).get("moved", {}).get(line.domain)
    return moved is not None and line.updated_at <= datetime.fromisoformat(moved)


def _there(places: Iterable[Place]) -> dict[Place, datetime]:
    wanted = set(places)
    rows = LegacyBlob.objects.filter(
        user__in={person for person, _ in wanted}, domain__in={domain for _, domain in wanted}
    ).values_list("user_id", "domain", "updated_at")
    return {(person, domain): changed for person, domain, changed in rows if (person, domain) in wanted}


def _store(new: dict[Place, Line], *, replaced: Iterable[Place]) -> None:
    if not new:
        return
    for person, domain in replaced:
        LegacyBlob.objects.filter(user=person, domain=domain).remove_moved()
    rows = [
        LegacyBlob(user_id=person, domain=domain, jwe=encryption.sealed(line.jwe), updated_at=line.updated_at)
        for (person, domain), line in new.items()
    ]
    with lifted(connection, LEGACY_RULES):
        LegacyBlob.objects.bulk_create(rows)


def _await_unlock(people: set[int], states: dict[int, MigrationState]) -> None:
    """Each who got a row is asked at the next unlock, those included whose migration was over."""
    MigrationState.objects.bulk_create(
        MigrationState(user_id=person, source=SOURCE, status=MigrationStatus.WAITING_FOR_UNLOCK)
        for person in sorted(people - states.keys())
    )
    over = [states[person].pk for person in people & states.keys()]
    MigrationState.objects.filter(pk__in=over, status=MigrationStatus.COMPLETED).update(
        status=MigrationStatus.WAITING_FOR_UNLOCK
    )
