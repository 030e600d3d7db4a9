"""The clock: the database decides what time it is, and how times are written."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import overload

from django.db import connection
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

_thread = threading.local()


def database_now() -> datetime:
    """The database's clock in UTC: the one clock that decides what has expired, whoever asks."""
    if connection.vendor != "postgresql":
        return datetime.now(UTC)  # SQLite runs in this process, so its clock is this one
    moment: list[datetime] | None = getattr(_thread, "moment", None)
    if moment:
        return moment[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0].astimezone(UTC)
    if moment is not None:
        moment.append(now)
    return now


def in_mail(at: datetime) -> str:
    """As a mail writes a time: in the zone that is on, by the name of that zone."""
    written = date_format(timezone.localtime(at), gettext("j F Y, H:i"))
    return f"{written} {timezone.get_current_timezone_name()}"


@contextmanager
def one_moment() -> Iterator[None]:
    """Within it the database is asked for its time once: for many short questions in a row, one after another."""
    _thread.moment = []
    try:
        yield
    finally:
        _thread.moment = None


@overload
def rfc3339(moment: datetime) -> str: ...
@overload
def rfc3339(moment: None) -> None: ...
@overload
def rfc3339(moment: datetime | None) -> str | None: ...
def rfc3339(moment: datetime | None) -> str | None:
    """Whole seconds in UTC with a `Z`, the form of every time on the wire."""
    if moment is None:
        return None
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="seconds").removesuffix("+00:00") + "Z"  # `strftime` takes half as much again


@overload
def utc(value: datetime | str) -> datetime: ...
@overload
def utc(value: None) -> None: ...
@overload
def utc(value: datetime | str | None) -> datetime | None: ...
def utc(value: datetime | str | None) -> datetime | None:
    """A time out of a raw query as an aware datetime: SQLite gives text or naive times, PostgreSQL aware ones."""
    if value is None:
        return None
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
