"""Which apps can read something of a person, could once, or are blocked: one row each, a page at a time."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.core.paginator import Page, Paginator
from django.db.models import Max, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from accounts.models import User
from common.clock import database_now
from consent.decisions.models import BlockedApp
from consent.exports import queries as export_queries
from consent.grants.models import Grant
from consent.states import GrantStatus
from consent.web import charts
from developers.apps.models import App
from developers.people import AppPerson
from pkm.registry import labels

ROWS, DAYS = 30, 30
Show = Literal["live", "ended", "connected", "blocked"]
SHOWS: tuple[Show, ...] = ("live", "ended", "connected", "blocked")


@dataclass
class AppRow:
    """What a person shares with an app, or shared: `at` is until when, since it ended, was connected or blocked."""

    app_pk: int
    name: str
    at: datetime
    newest: datetime
    paths: list[str] = field(default_factory=list)
    reads: int = 0
    active: int = 0
    grants: int = 0
    unused_ends_at: datetime | None = None
    app: App | None = None
    last_read: datetime | None = None
    groups: list[labels.Group] = field(default_factory=list)
    spark: charts.Chart | None = None

    @property
    def is_paused(self) -> bool:
        return self.grants > 0 and self.active == 0


def app_list(
    user: User, now: datetime, *, show: str = "", q: str = "", unread_first: bool = False, page: str = ""
) -> dict[str, Any]:
    """One of the four lists, and how long each is. `q` finds apps by name, and in what they can read."""
    live = _live(user, now)
    ended = _ended(user, now, without=live)
    blocked = BlockedApp.objects.filter(user=user).select_related("app")
    connected = AppPerson.objects.filter(user=user, ended_at=None).select_related("app")
    counts = {"live": len(live), "ended": ended.count(), "connected": connected.count(), "blocked": blocked.count()}
    shown = next((one for one in SHOWS if one == show), "live")
    if shown == "live":
        rows = list(live.values())
    elif shown == "ended":
        rows = [AppRow(pk, name, at, at, reads=reads) for pk, name, at, reads in ended]
    elif shown == "connected":
        known = connected.order_by("-connected_at", "-pk")
        rows = [AppRow(one.app_id, one.app.name, one.connected_at, one.connected_at) for one in known]
    else:
        rows = [AppRow(one.app_id, one.app.name, one.created_at, one.created_at) for one in blocked.order_by("-pk")]
    rows = _found(rows, " ".join(q.split()).casefold())
    if shown == "live" and unread_first:
        rows.sort(key=lambda row: (row.reads, row.newest))
    some = Paginator(rows, ROWS).get_page(page)
    _fill(user, some, now, draws=shown == "live")
    return {
        "show": shown,
        "q": q,
        "unread_first": unread_first,
        "rows": some,
        "chips": [(one, label, counts[one]) for one, label in _chips()],
        "active": sum(row.active for row in live.values()),
        "paused": sum(row.grants - row.active for row in live.values()),
    }


def _chips() -> list[tuple[Show, str]]:
    words = (gettext("Can read"), gettext("Ended"), gettext("Connected"), gettext("Blocked"))
    return list(zip(SHOWS, words, strict=True))


def _live(user: User, now: datetime) -> dict[int, AppRow]:
    """By the app's key, the one that was allowed something last first; one query."""
    columns = ("app_id", "app__name", "status", "approved_attributes", "starts_at", "expires_at", "reads")
    live = Grant.objects.live(now).filter(user=user).order_by("-starts_at", "-pk")
    rows: dict[int, AppRow] = {}
    for app_pk, name, status, paths, starts_at, expires_at, reads, unused in live.values_list(
        *columns, "unused_ends_at"
    ):
        row = rows.setdefault(app_pk, AppRow(app_pk, name, expires_at, starts_at))
        row.at = max(row.at, expires_at)
        row.paths.extend(paths)
        row.reads += reads
        row.grants += 1
        row.active += status == GrantStatus.ACTIVE
        row.unused_ends_at = min(filter(None, (row.unused_ends_at, unused)), default=None)
    return rows


def _ended(user: User, now: datetime, *, without: Iterable[int]) -> Any:
    """(app, name, when it ended last, reads) of the apps of which nothing is live, the newest end first."""
    over = Grant.objects.over(now).filter(user=user).exclude(app__in=list(without)).order_by()
    by_app = over.values("app_id", "app__name").annotate(
        at=Max(Coalesce("ended_at", "expires_at")), all_reads=Sum("reads")
    )
    return by_app.order_by("-at", "app_id").values_list("app_id", "app__name", "at", "all_reads")


def _found(rows: list[AppRow], words: str) -> list[AppRow]:
    if not words:
        return rows
    each = labels.described_each(row.paths for row in rows)
    return [
        row for row, groups in zip(rows, each, strict=True) if words in row.name.casefold() or _names(groups, words)
    ]


def _names(groups: list[labels.Group], words: str) -> bool:
    return any(words in label.casefold() for group in groups for label in _labels(group))


def _labels(group: labels.Group) -> list[str]:
    return [group.label, *(attribute.label for attribute in group.attributes)]


def _fill(user: User, some: Page[AppRow], now: datetime, *, draws: bool) -> None:
    """What a row shows beside its numbers, of those on this page alone."""
    pks = [row.app_pk for row in some]
    apps = App.objects.select_related("application").in_bulk(pks)
    last = export_queries.last_reads(user, pks) if pks else {}
    by_day = export_queries.reads_by_day(user, days=DAYS, now=now, app_pks=pks) if draws and pks else {}
    groups = labels.described_each(row.paths for row in some) if draws and pks else [[] for _ in pks]
    for row, its_groups in zip(some, groups, strict=True):
        row.app, row.last_read, row.groups = apps[row.app_pk], last.get(row.app_pk), its_groups
        row.spark = charts.by_day(by_day.get(row.app_pk, {}), days=DAYS, now=now) if draws else None


def numbers(user: User, now: datetime) -> dict[str, int]:
    """How many apps can read how many things, and how many approvals are active and paused. One query."""
    live = Grant.objects.live(now).filter(user=user).values_list("app_id", "status", "approved_attributes")
    apps: set[int] = set()
    things: set[str] = set()
    paused = active = 0
    for app_pk, status, paths in live:
        if status == GrantStatus.PAUSED:
            paused += 1
            continue
        active += 1
        apps.add(app_pk)
        things.update(paths)
    return {"apps": len(apps), "things": len(things), "active": active, "paused": paused}


def pausing(user: User) -> dict[str, Any]:
    """What pausing everything would hold back, and what is paused: the names of the apps, and the paused grants."""
    live = Grant.objects.live(database_now()).filter(user=user).order_by("app__name", "pk")
    active: list[str] = []
    paused: list[str] = []
    ids: list[str] = []
    for grant_id, status, name in live.values_list("grant_id", "status", "app__name"):
        (paused if status == GrantStatus.PAUSED else active).append(name)
        ids += [grant_id] if status == GrantStatus.PAUSED else []
    return {
        "active": len(active),
        "active_apps": list(dict.fromkeys(active)),
        "paused_apps": list(dict.fromkeys(paused)),
        "paused_ids": ids,
    }
