"""What an app's page shows: what it can read now, a page at a time, what it read, and what happened with it."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import OuterRef, Subquery

from accounts.models import User
from consent.decisions.blocked_apps import known_app_pk
from consent.decisions.models import BlockedApp
from consent.exports import policies as export_policies
from consent.exports import queries as export_queries
from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest, RefreshPolicy
from consent.states import GrantStatus
from consent.web import charts, paging
from consent.web import history as web_history
from consent.web.app_list import DAYS
from consent.web.history_filter import Chosen
from consent.web.history_sources import Happened
from developers.apps.models import App
from developers.people import AppPerson
from pkm.registry import labels
from pkm.segments import queries as segment_queries

LIVE_SHOWN, ENDED_SHOWN, EVENTS_SHOWN = 8, 5, 6


@dataclass(frozen=True)
class Shared:
    """One grant on the page; `source_is_gone` where an export to be refreshed has nothing to be made from."""

    grant: Grant
    status: GrantStatus
    groups: list[labels.Group]
    last_read: datetime | None
    sealed_at: datetime | None
    source_is_gone: bool

    @property
    def title(self) -> str:
        return ", ".join(attribute.label for group in self.groups for attribute in group.attributes)


def app_page(user: User, app_id: str, now: datetime, *, older: str = "", including: str = "") -> dict[str, Any]:
    """An app that this person met: what it can read, newest first, a page that goes on at `older` or has the grant
    `including`; the first page also tells what ended lately. Raises `UnknownApp`."""
    app_pk = known_app_pk(app_id, user)
    own = _own(user).filter(app=app_pk)
    place, some = _page(own, now, paging.read(older), including)
    shown = some[:LIVE_SHOWN]
    last = shown[-1] if len(some) > LIVE_SHOWN else None
    ended = list(own.over(now).order_by("-ended_at", "-id")[:ENDED_SHOWN]) if place is None else []
    cards = _cards([*shown, *ended], now, segment_queries.stored_attributes(user) if shown else {})
    app = App.objects.select_related("application").get(pk=app_pk)
    by_day = export_queries.reads_by_day(user, days=DAYS, now=now, app_pks=[app_pk])
    happened = web_history.history(user, chosen=Chosen(app_id=app_id), names={app_id: app.name})
    return {
        "app": app,
        **_numbers(own, now),
        "blocked": BlockedApp.objects.filter(user=user, app=app_pk).first(),
        "connected": AppPerson.objects.filter(user=user, app_id=app_pk, ended_at=None).exists(),
        "pending_requests": ConsentRequest.objects.pending(now).filter(user=user, app=app_pk).count(),
        "live": cards[: len(shown)],
        "ended": cards[len(shown) :],
        "chart": charts.by_day(by_day.get(app_pk, {}), days=DAYS, now=now),
        "events": _folded(happened.lines)[:EVENTS_SHOWN],
        "key": own.order_by("-id").values_list("request__connector_thumbprint", flat=True).first(),
        **paging.pages(last and paging.place_of(last.starts_at, last.pk), is_newest=place is None),
    }


def app_of_grant(user: User, grant_id: str) -> str | None:
    """The app that this person gave it to; None where it is nobody's or another's."""
    return Grant.objects.filter(user=user, grant_id=grant_id).values_list("app__app_id", flat=True).first()


def _folded(lines: list[Happened]) -> list[tuple[Happened, int]]:
    """Lines that follow each other and say the same are one, the newest, with how many they are."""
    alike = (list(same) for _, same in groupby(lines, key=lambda line: line.title))
    return [(same[0], len(same)) for same in alike]


def _numbers(own: Any, now: datetime) -> dict[str, Any]:
    """Of all that is live: how many things it is of, until when at most, when it was read last, and what is paused."""
    live = list(
        own.live(now).order_by("pk").values("grant_id", "status", "approved_attributes", "expires_at", "last_read")
    )
    return {
        "things": len({path for one in live for path in one["approved_attributes"]}),
        "until": max((one["expires_at"] for one in live), default=None),
        "last_read": max((one["last_read"] for one in live if one["last_read"]), default=None),
        "approvals": len(live),
        "paused_ids": [one["grant_id"] for one in live if one["status"] == GrantStatus.PAUSED],
    }


def _page(own: Any, now: datetime, place: paging.Place | None, including: str) -> tuple[paging.Place | None, list[Any]]:
    """Where the page begins, None for the newest, and its grants with one more."""
    some = _live(own, now, place)
    if place is not None:
        return (place, some) if some else (None, _live(own, now, None))  # what was there has ended meanwhile
    if including and all(grant.grant_id != including for grant in some[:LIVE_SHOWN]):
        wanted = own.live(now).filter(grant_id=including).first()
        if wanted is not None:  # the page that begins with it
            place = paging.place_of(wanted.starts_at, wanted.pk + 1)
            return place, _live(own, now, place)
    return None, some


def _own(user: User) -> Any:
    reads = Read.objects.filter(grant=OuterRef("pk")).order_by("-at")
    exports = Export.objects.filter(grant=OuterRef("pk")).order_by("-revision")
    own = Grant.objects.filter(user=user).select_related("request", "app__application", "request__scope_entry")
    return own.annotate(last_read=Subquery(reads.values("at")[:1]), sealed_at=Subquery(exports.values("sealed_at")[:1]))


def _live(own: Any, now: datetime, place: paging.Place | None) -> list[Any]:
    live = paging.older(own.live(now), "starts_at", place)
    return list(live.order_by("-starts_at", "-id")[: LIVE_SHOWN + 1])


def _cards(found: list[Any], now: datetime, stored: export_policies.StoredAttributes) -> list[Shared]:
    groups = labels.described_each(grant.approved_attributes for grant in found)
    return [
        Shared(
            grant, grant.status_at(now), its_groups, grant.last_read, grant.sealed_at, _is_source_gone(grant, stored)
        )
        for grant, its_groups in zip(found, groups, strict=True)
    ]


def _is_source_gone(grant: Grant, stored: export_policies.StoredAttributes) -> bool:
    if grant.request.refresh_policy != RefreshPolicy.CONTINUOUS or not grant.kept_current:
        return False
    return not export_policies.segments_with(grant.request.source_attributes(grant.approved_attributes), stored)
