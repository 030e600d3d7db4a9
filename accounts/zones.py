"""In which time zone a person is written to, and where their browser is."""

from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest

from accounts.alerts.settings import zones
from accounts.models import AlertSettings, User
from common.clock import database_now


def zone_of(person: User) -> ZoneInfo:
    """The one that they chose, or were in when they signed up."""
    return _known(AlertSettings.objects.filter(user=person).values_list("zone", flat=True).first() or "")


def browser_zone(request: HttpRequest) -> ZoneInfo:
    """Where the browser is, as it said in a cookie (static/js/shell.js)."""
    return _known(request.COOKIES.get(f"{settings.COOKIE_PREFIX}zone", ""))


def keep_first_zone(*, request: HttpRequest, user: User, **_: Any) -> None:
    """After signing up: where the browser is."""
    zone = browser_zone(request).key
    if zone != "UTC":
        AlertSettings.objects.create(user=user, zone=zone, seen_until=database_now())


def _known(name: str) -> ZoneInfo:
    """UTC where this machine knows no such zone: it may have known it when it was kept."""
    return ZoneInfo(name if name in zones() else "UTC")
