"""The page of an app's connector keys: what its requests were sealed to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.clock import database_now
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from developers.models import App, AppMember
from developers.portal.shell import app_page, portal_page

MOST_SHOWN = 200
_KEY = ("connector_thumbprint", "connector_key_id")


@dataclass(frozen=True)
class KeySeen:
    """A connector key under one of the app's names for it; the fingerprint is its RFC 7638 thumbprint."""

    connector_key_id: str
    fingerprint: str
    first_used: datetime
    last_used: datetime
    requests: int
    live_grants: int


def keys_of(app: App, now: datetime) -> list[KeySeen]:
    """The keys that this app asked with, the last used first, at most MOST_SHOWN."""
    live = Grant.objects.live(now).filter(app=app).values_list(*(f"request__{name}" for name in _KEY))
    grants: dict[Any, int] = {tuple(key): count for *key, count in live.annotate(count=Count("pk"))}
    return [
        KeySeen(key_id, thumbprint, first, last, requests, grants.get((thumbprint, key_id), 0))
        for thumbprint, key_id, first, last, requests in used_keys(app)[:MOST_SHOWN]
    ]


def used_keys(app: App) -> "QuerySet[ConsentRequest, tuple[Any, ...]]":
    """Each key's thumbprint, name, first and last use and requests, out of one index (consent_request_keys)."""
    grouped = ConsentRequest.objects.filter(app=app).order_by().values_list(*_KEY)
    return grouped.annotate(first=Min("created_at"), last=Max("created_at"), requests=Count("*")).order_by("-last")


@require_safe
@app_page()
def keys(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Which keys were used, so that a leaked or forgotten one is noticed."""
    shown = {"keys": keys_of(member.app, database_now()), "most": MOST_SHOWN}
    return portal_page(request, "developers/keys.html", shown, member=member)
