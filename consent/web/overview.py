"""What the overview shows: who can read what, who read, what waits, ends and changed, and how the vault is opened."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from accounts.models import User
from accounts.personas import note_visit
from common.clock import database_now
from consent.exports import queries as export_queries
from consent.exports.models import Read
from consent.grants.models import UNUSED_NOTICE, Grant
from consent.requests.models import ConsentRequest
from consent.web import charts
from consent.web.app_list import numbers
from consent.web.history_filter import Chosen
from consent.web.history_sources import Happened, Wanted
from developers.apps.models import App
from pkm.registry import labels
from pkm.segments import queries as segment_queries
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus

PENDING, APPS, ENDING, CHANGES = 3, 5, 5, 6
SOON = timedelta(days=7)
_WEEK = 7
_NEW_TO = timedelta(days=7)  # whoever looks for the first time sees as much


@dataclass(frozen=True)
class Week:
    """The reads of seven days, by day and by app, the most first; `before` is how many there were in those before."""

    chart: charts.Chart
    apps: list[tuple[App, int]]
    count: int
    before: int


@dataclass(frozen=True)
class Ending:
    """An approval that ends: `unused` where that is since nobody reads it, and `renewal` what its app asks instead."""

    grant: Any
    at: datetime
    unused: bool
    renewal: str


def overview(user: User) -> dict[str, Any]:
    """All of it; as many queries however much there is."""
    now = database_now()
    since = note_visit(user, now) or now - _NEW_TO
    pending = ConsentRequest.objects.filter(user=user).pending(now).select_related("app", "scope_entry")
    stored = segment_queries.stored_attributes(user)
    paths = [f"{domain}.{segment}.{name}" for (domain, segment), names in stored.items() for name in names]
    return {
        **numbers(user, now),
        "pending": list(pending.order_by("-created_at", "-id")[:PENDING]),
        "week": _week(user, now),
        "ending": _ending(user, now),
        "changes": _changes(user, since),
        "since": since,
        "things_kept": len(paths),
        "areas": labels.described(paths) if paths else [],
        "has_vault": vault_queries.status_of(user) != VaultStatus.ABSENT,
        "ways": vault_queries.ways_in(user),
    }


def _week(user: User, now: datetime) -> Week:
    by_app = export_queries.reads_by_day(user, days=2 * _WEEK, now=now)
    first = (now - timedelta(days=_WEEK - 1)).date()
    of_week = {pk: {day: n for day, n in days.items() if day >= first} for pk, days in by_app.items()}
    days: dict[Any, int] = {}
    for its in of_week.values():
        for day, count in its.items():
            days[day] = days.get(day, 0) + count
    totals = sorted(((sum(its.values()), pk) for pk, its in of_week.items() if its), reverse=True)
    apps = App.objects.select_related("application").in_bulk([pk for _, pk in totals[:APPS]])
    chart = charts.by_day(days, days=_WEEK, now=now)
    everything = sum(sum(its.values()) for its in by_app.values())
    return Week(chart, [(apps[pk], count) for count, pk in totals[:APPS]], len(totals), everything - chart.total)


def _ending(user: User, now: datetime) -> list[Ending]:
    """The next ones. What its app has read since its end was announced does not end, and is not told of."""
    newest = Read.objects.filter(grant=OuterRef("pk")).order_by("-at").values("at")[:1]
    live = Grant.objects.live(now).filter(user=user).annotate(last_read=Subquery(newest))
    near = live.filter(Q(expires_at__lte=now + SOON) | Q(unused_ends_at__isnull=False, status="active"))
    some: list[Any] = list(near.select_related("app__application", "request__scope_entry").order_by("expires_at", "pk"))
    found = []
    for grant in some:
        by_time = grant.expires_at <= now + SOON
        if by_time or grant.last_read is None or grant.last_read <= grant.unused_ends_at - UNUSED_NOTICE:
            found.append((grant.expires_at if by_time else grant.unused_ends_at, grant, not by_time))
    found.sort(key=lambda one: (one[0], one[1].pk))
    renewals = _renewals(user, now, [grant for _, grant, _ in found[:ENDING]])
    return [
        Ending(grant, at, unused, renewals.get((grant.app_id, grant.scope), "")) for at, grant, unused in found[:ENDING]
    ]


def _renewals(user: User, now: datetime, grants: list[Any]) -> dict[tuple[int, str], str]:
    """(app, scope) → what it asks for anew, of these grants."""
    pending: Any = ConsentRequest.objects.filter(user=user, app__in={grant.app_id for grant in grants}).pending(now)
    return {(app, scope): request_id for app, scope, request_id in pending.values_list("app", "scope", "request_id")}


def _changes(user: User, since: datetime) -> list[Happened]:
    """What this person's chain tells since then, newest first; reads are drawn, not told."""
    history = Wanted(user, Chosen(), folded=True).sources()["c"](None, CHANGES)
    return [placed.line for placed in history if placed.line.at > since]
