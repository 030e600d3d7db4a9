"""In which time zone a person is written to, and where their browser is."""

import re
from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest

from accounts.models import AlertSettings, User
from common.clock import database_now


def zone_of(person: User) -> ZoneInfo:
    """The one that they chose, or were in when they signed up."""
    return ZoneInfo(AlertSettings.objects.filter(user=person).values_list("zone", flat=True).first() or "UTC")


def browser_zone(request: HttpRequest) -> tzinfo:
    """Where the browser is, as it said in a cookie (static/js/shell.js); UTC where that names no zone."""
    name = request.COOKIES.get(f"{settings.COOKIE_PREFIX}zone", "")
    if not re.fullmatch(r"[A-Za-z]+(?:[/_+-][A-Za-z0-9]+){0,6}", name):
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        return UTC


def keep_first_zone(*, request: HttpRequest, user: User, **_: Any) -> None:
    """After signing up: where the browser is."""
    zone = browser_zone(request)
    if isinstance(zone, ZoneInfo):
        AlertSettings.objects.create(user=user, zone=zone.key, seen_until=database_now())
