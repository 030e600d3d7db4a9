"""What a person hears of, how, and when: their choices, the quiet hours among them, and the phrase in their mails."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.db import transaction
from django.db.models import F, Q

from accounts.models import AlertSettings, AlertWay, User
from accounts.phrase import phrase_of
from common.clock import database_now
from common.encryption import sealed

KINDS = ("requests", "endings", "reads", "updates", "security")
_A_MINUTE = timedelta(minutes=1)


def settings_of(user: User) -> AlertSettings:
    """Their choices; where they made none, the defaults, which are not stored."""
    return AlertSettings.objects.filter(user=user).first() or AlertSettings(user=user, seen_until=database_now())


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """The names of time zones that this machine knows."""
    return frozenset(available_timezones())


@transaction.atomic
def save_settings(
    *,
    by: User,
    ways: Mapping[str, str],
    phrase: str,
    zone: str,
    quiet: tuple[time, time] | None,
    gathered_at: time | None,
) -> None:
    """Keep all choices at once. `ways` has a way for each of KINDS; what concerns security goes by mail whatever it is.

    What waited for the end of earlier quiet hours is looked at anew.
    """
    now = database_now()
    row = ensure_settings(by)
    row = AlertSettings.objects.select_for_update().get(pk=row.pk)
    alerts_were_off = (row.reads, row.updates) == (AlertWay.NONE, AlertWay.NONE)
    for kind in KINDS:
        setattr(row, kind, AlertWay(ways[kind]))
    if row.security not in (AlertWay.MAIL, AlertWay.BOTH):
        row.security = AlertWay.BOTH
    row.phrase = sealed(phrase) if phrase else ""
    row.zone, row.gathered_at = zone, gathered_at
    before = (row.quiet_from, row.quiet_to)
    row.quiet_from, row.quiet_to = quiet or (None, None)
    if quiet is None or before == (None, None):
        row.quiet_since, row.quiet_count = (now if quiet else None), 0
    row.held_until = None
    if alerts_were_off:
        row.seen_until = now  # nothing of before is news
    row.save()


def ensure_settings(user: User) -> AlertSettings:
    """The row, made with the defaults where there is none: what apps do is told from now on."""
    row, _ = AlertSettings.objects.get_or_create(user=user, defaults={"seen_until": database_now()})
    return row


def is_sent_by(row: AlertSettings, kind: str, way: AlertWay) -> bool:
    """Whether they want to hear of this kind in this way."""
    return getattr(row, kind) in (way, AlertWay.BOTH)


def reachable_now(now: datetime) -> Q:
    """For rows of people: those to whom something may go now."""
    column = "user__alert_settings__held_until"
    return Q(**{f"{column}__isnull": True}) | Q(**{f"{column}__lte": now})


def is_quiet(row: AlertSettings, at: datetime) -> bool:
    """Whether `at` lies in their quiet hours, which may reach over midnight."""
    if row.quiet_from is None or row.quiet_to is None:
        return False
    local = at.astimezone(ZoneInfo(row.zone)).time()
    if row.quiet_from < row.quiet_to:
        return row.quiet_from <= local < row.quiet_to
    return local >= row.quiet_from or local < row.quiet_to


def postpone(row: AlertSettings, *, now: datetime, oldest: datetime) -> bool:
    """Whether what waits since `oldest` has to wait on; if so, it is kept when it is looked at again."""
    until = _quiet_until(row, now, oldest)
    if until is None:
        return False
    AlertSettings.objects.filter(pk=row.pk).update(held_until=until)
    return True


def count_kept_back(row: AlertSettings, moments: list[datetime]) -> None:
    """That what came at these moments waited for the end of the quiet hours, where it did."""
    if found := sum(is_quiet(row, moment) for moment in moments):
        AlertSettings.objects.filter(pk=row.pk).update(quiet_count=F("quiet_count") + found)


def _quiet_until(row: AlertSettings, now: datetime, oldest: datetime) -> datetime | None:
    if row.quiet_to is not None and is_quiet(row, now):
        return _next(row, row.quiet_to, now)
    if row.gathered_at is not None:
        comes = _next(row, row.gathered_at, now)
        # what waited at the last such time goes now; over a change of the clock the day has an hour more or less
        if oldest > _next(row, row.gathered_at, now - timedelta(days=1)):
            return comes
    return None


def _next(row: AlertSettings, at: time, now: datetime) -> datetime:
    """The first moment after `now` at which the person's clock shows `at`."""
    local = now.astimezone(ZoneInfo(row.zone))
    comes = datetime.combine(local.date(), at, local.tzinfo)
    if comes <= local:
        comes = datetime.combine(local.date() + timedelta(days=1), at, local.tzinfo)
    return max(comes.astimezone(now.tzinfo), now + _A_MINUTE)


def as_export(user: User) -> dict[str, Any] | None:
    """For the answer to a request of access."""
    row = AlertSettings.objects.filter(user=user).first()
    if row is None:
        return None
    kept = ("zone", "quiet_from", "quiet_to", "quiet_since", "quiet_count", "gathered_at")
    return {name: getattr(row, name) for name in (*KINDS, *kept)} | {"phrase": phrase_of(user)}
