"""What the sharing page shows: what is shared now, a page at a time, and what ended lately."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, OuterRef, Subquery

from common.clock import database_now
from consent.decisions.models import BlockedApp
from consent.exports import policies as export_policies
from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.requests.models import RefreshPolicy
from consent.states import GrantStatus
from consent.web import places
from developers.models import App
from pkm.registry import labels
from pkm.segments import queries as segment_queries

if TYPE_CHECKING:
    from accounts.models import User

LIVE_SHOWN, ENDED_SHOWN, SEVERAL_SHOWN = 20, 20, 20


@dataclass(frozen=True)
class Shared:
    """One grant on the sharing page; `source_is_gone` where an export to be refreshed has nothing to be made from."""

    grant: Grant
    status: GrantStatus
    groups: list[labels.Group]
    last_read: datetime | None
    sealed_at: datetime | None
    source_is_gone: bool

    @property
    def reads_left(self) -> int | None:
        return None if self.grant.max_reads is None else self.grant.max_reads - self.grant.reads


def sharing(user: "User", *, older: str = "", holding: str = "") -> dict[str, Any]:
    """What is shared now, newest first, a page that goes on at `older`, or the newest that has the grant `holding`.

    The first page also tells what ended lately, which apps are blocked, and which read several things.
    """
    now = database_now()
    place, some = _page(user, now, places.read(older), holding)
    shown = some[:LIVE_SHOWN]
    last = shown[-1] if len(some) > LIVE_SHOWN else None
    ended = _ended(user, now) if place is None else []
    cards = _cards([*shown, *ended], now, segment_queries.held_segments(user) if shown else {})
    return {
        "has_paused": any(grant.status == GrantStatus.PAUSED for grant in shown),
        "live": cards[: len(shown)],
        "several": _several(user, now) if place is None else [],
        "ended": cards[len(shown) :],
        "blocked": _blocked(user) if place is None else [],
        **places.pages(last and places.place_of(last.starts_at, last.pk), is_newest=place is None),
    }


def _page(
    user: "User", now: datetime, place: places.Place | None, holding: str
) -> tuple[places.Place | None, list[Any]]:
    """Where the page begins, None for the newest, and its grants with one more."""
    some = _live(user, now, place)
    if place is not None:
        return (place, some) if some else (None, _live(user, now, None))  # what was there has ended meanwhile
    if holding and all(grant.grant_id != holding for grant in some[:LIVE_SHOWN]):
        wanted = Grant.objects.live(now).filter(user=user, grant_id=holding).first()
        if wanted is not None:  # the page that begins with it
            place = places.place_of(wanted.starts_at, wanted.pk + 1)
            return place, _live(user, now, place)
    return None, some


def _own(user: "User") -> Any:
    reads = Read.objects.filter(grant=OuterRef("pk")).order_by("-at")
    exports = Export.objects.filter(grant=OuterRef("pk")).order_by("-revision")
    own = Grant.objects.filter(user=user).select_related("request", "app__application", "request__scope_entry")
    return own.annotate(last_read=Subquery(reads.values("at")[:1]), sealed_at=Subquery(exports.values("sealed_at")[:1]))


def _live(user: "User", now: datetime, place: places.Place | None) -> list[Any]:
    live = places.older(_own(user).live(now), "starts_at", place)
    return list(live.order_by("-starts_at", "-id")[: LIVE_SHOWN + 1])


def _ended(user: "User", now: datetime) -> list[Any]:
    return list(_own(user).over(now).order_by("-ended_at", "-id")[:ENDED_SHOWN])


def _several(user: "User", now: datetime) -> list[dict[str, Any]]:
    """The apps that can read several things, the one that was allowed something last first."""
    counted = Grant.objects.live(now).filter(user=user).values("app").annotate(n=Count("pk"), newest=Max("pk"))
    some = {one["app"]: one["n"] for one in counted.filter(n__gt=1).order_by("-newest")[:SEVERAL_SHOWN]}
    apps = App.objects.select_related("application").in_bulk(some)
    return [{"app": apps[pk], "count": n} for pk, n in some.items()]


def _blocked(user: "User") -> list[BlockedApp]:
    return list(BlockedApp.objects.filter(user=user).select_related("app").order_by("app__name", "pk"))


def _cards(found: list[Any], now: datetime, held: export_policies.Held) -> list[Shared]:
    groups = labels.described_each(grant.approved_attributes for grant in found)
    return [
        Shared(grant, grant.standing(now), its_groups, grant.last_read, grant.sealed_at, _is_source_gone(grant, held))
        for grant, its_groups in zip(found, groups, strict=True)
    ]


def _is_source_gone(grant: Grant, held: export_policies.Held) -> bool:
    if grant.request.refresh_policy != RefreshPolicy.CONTINUOUS or not grant.kept_current:
        return False
    return not export_policies.holding(grant.approved_attributes, held)
