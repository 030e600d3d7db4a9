"""Everything that happened with a person's data, a page at a time or all of it, newest first.

The sources are merged. A page goes on from where each of them stood when the page before ended, so it takes as long
however far back it lies, and each line is told once, whatever happens meanwhile.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import groupby, islice
from typing import Any

from django.conf import settings
from django.db.models import Count, Q

from accounts.models import User
from common.clock import database_now, rfc3339
from common.durations import duration
from consent.discovery.models import DirectoryFind, Discovery
from consent.event_types import EventType
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.ledger.verifying import Broken, verify
from consent.requests.models import ConsentRequest
from consent.web import paging
from consent.web.history_filter import Chosen
from consent.web.history_sources import BOUNDS, Happened, Placed, Position, Source, Wanted, title_of
from developers.apps.models import App

__all__ = [
    "PAGE",
    "Happened",
    "HistoryPage",
    "apps_of",
    "checked_chain",
    "happened",
    "history",
    "running_grants",
    "title_of",
    "unapproved",
]

_ENDS = (
    EventType.REVOKED,
    EventType.RELEASED,
    EventType.TERMINATED,
    EventType.EXHAUSTED,
    EventType.SUPERSEDED,
    EventType.EXPIRED,
)  # after which a grant is live only where somebody brought it back

PAGE = 25
_AT_ONCE = 500  # lines of each source, for a file


@dataclass(frozen=True)
class HistoryPage:
    """One page of it; `older` is where the next one goes on, empty where this is the last."""

    lines: list[Happened]
    older: str
    is_newest: bool
    zone: tzinfo

    @property
    def days(self) -> list[tuple[date, list[Happened]]]:
        return [
            (day, list(some)) for day, some in groupby(self.lines, lambda line: line.at.astimezone(self.zone).date())
        ]


def history(user: User, *, chosen: Chosen, older: str = "", names: Mapping[str, str]) -> HistoryPage:
    """The page that goes on at `older`, the newest one where that is nothing that a page said.

    `names` are those of the apps that the person met.
    """
    sources = Wanted(user, chosen, folded=True, names=names).sources()
    reached = _positions(older, sources)
    is_newest = not reached
    walks = []
    for letter, source in sources.items():
        some = source(reached.get(letter), PAGE + 1)
        reached.setdefault(letter, _before(some, BOUNDS[letter]))
        walks.append(iter([(letter, placed) for placed in some]))
    merged = list(islice(_merged(walks), PAGE + 1))
    for letter, placed in merged[:PAGE]:
        reached[letter] = placed.position
    lines = [placed.line for _, placed in merged[:PAGE]]
    return HistoryPage(lines, _cursor(reached) if len(merged) > PAGE else "", is_newest, chosen.zone)


def _before(some: list[Placed], bounds: Position) -> Position:
    """Where a source stands that has told nothing yet, so that what is new in it does not appear on a later page."""
    if not some:
        return tuple(1 for _ in bounds)  # before which there is nothing
    *times, row = some[0].position
    return (*times, row + 1)


def happened(user: User, chosen: Chosen) -> Iterator[Happened]:
    """Every line, newest first; each source is read bit by bit, however long it is."""
    sources = Wanted(user, chosen, names=dict(apps_of(user))).sources()
    return (placed.line for _, placed in _merged([_walk(letter, source) for letter, source in sources.items()]))


def _walk(letter: str, source: Source) -> Iterator[tuple[str, Placed]]:
    """All lines of a source, some at a time, each with the source's letter."""
    after: Position | None = None
    while True:
        some = source(after, _AT_ONCE)
        yield from ((letter, placed) for placed in some)
        if len(some) < _AT_ONCE:
            return
        after = some[-1].position


def _merged(walks: list[Iterator[tuple[str, Placed]]]) -> Iterator[tuple[str, Placed]]:
    return heapq.merge(*walks, key=lambda one: one[1].line.at, reverse=True)


def _cursor(reached: dict[str, Position]) -> str:
    """Such as `c120.r1764000000000000-55`: where each source stands."""
    return ".".join(f"{letter}{paging.written(position)}" for letter, position in reached.items())


def _positions(cursor: str, letters: Iterable[str]) -> dict[str, Position]:
    """What `_cursor` made, of these sources; nothing where it is none of that, such as the number of a page."""
    found: dict[str, Position] = {}
    for part in cursor.split(".") if cursor else ():
        letter = part[:1]
        position = paging.read(part[1:], BOUNDS[letter]) if letter in letters else None
        if position is None:
            return {}
        found[letter] = position
    return found


def reads_between(user: User, begins: datetime, ends: datetime) -> dict[str, int]:
    """{"apps", "times"}: how many apps read how often; one query."""
    reads = Read.objects.filter(grant__in=Grant.objects.filter(user=user), at__gte=begins, at__lt=ends)
    return reads.aggregate(apps=Count("grant__app", distinct=True), times=Count("pk"))


def listed_for() -> tuple[str, str]:
    """How long each read is listed, and each look of an app, in words."""
    days = (settings.READS_KEPT_DAYS, settings.DISCOVERIES_KEPT_DAYS)
    reads, discoveries = (duration(each * 86_400) for each in days)
    return reads, discoveries


def checked_chain(user: User) -> tuple[int, Broken | None]:
    """How many entries this person's chain has, and the first that does not hold, if any."""
    chain = audit.person_chain(user.public_id)
    return AuditEntry.objects.of(chain).count(), next(verify(chain), None)


def running_grants(user: User, now: datetime) -> list[dict[str, Any]]:
    """The live grants, of which each has to stand in the person's history: {"grant_id", "app_name",
    "approved_attributes", "expires_at"}."""
    live = Grant.objects.live(now).filter(user=user).select_related("app").order_by("pk")
    return [
        {
            "grant_id": grant.grant_id,
            "app_name": grant.app.name,
            "approved_attributes": grant.approved_attributes,
            "expires_at": rfc3339(grant.expires_at),
        }
        for grant in live
    ]


def unapproved(user: User) -> list[str]:
    """The names of the apps whose live grants no approval in this person's history tells of, or an end as well."""
    entries = AuditEntry.objects.of(audit.person_chain(user.public_id)).filter(kind__in=[EventType.APPROVED, *_ENDS])
    approved: dict[str, dict[str, Any]] = {}
    for kind, facts in entries.order_by("sequence").values_list("kind", "kept__facts"):
        grant_id = (facts or {}).get("grant_id")
        if kind == EventType.APPROVED and grant_id:
            approved[grant_id] = facts
        elif grant_id:
            approved.pop(grant_id, None)
    return [
        grant["app_name"]
        for grant in running_grants(user, database_now())
        if not _covers(approved.get(grant["grant_id"]), grant)
    ]


def _covers(facts: dict[str, Any] | None, grant: dict[str, Any]) -> bool:
    entered = (facts or {}).get("grant") or {}
    return all(entered.get(member) == grant[member] for member in ("approved_attributes", "expires_at"))


def apps_of(user: User) -> list[tuple[str, str]]:
    """(app_id, name) of every app that asked this person, found them or looked at what it could ask; one query."""
    met = Q()
    for model in (ConsentRequest, Discovery, DirectoryFind):
        met |= Q(pk__in=model._default_manager.filter(user=user).values("app_id"))
    return sorted(App.objects.filter(met).values_list("app_id", "name"), key=lambda pair: pair[1].lower())
