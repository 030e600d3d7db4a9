"""Who keeps asking about people who do not exist (contract 1.2).

Misses are counted for an app, or for an app and the hint that it gives of its own caller: whoever types wrong IDs into
an app's form then locks out themselves and nobody else. People whom the app has asked before neither count nor are
refused. The rows are read along by the statements that look a person up, which is why they are not with the limits of
`common.limits`: an answer from Redis would cost a discovery more than the discovery.

Hints have no ceiling of their own. An ID has 128 random bits, so nobody finds one by trying, however many hints they
make up, while a ceiling would give a stranger back what hints take from them: the means to lock an app out. What a
flood of hints may fill is bounded instead: a hint is kept as 16 bits of a keyed hash, so an app has 65,536 counters.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.database import database_now, rows, utc
from common.limits import Count, Limit
from consent.errors import TooManyRequests, UnknownUser
from consent.limits import Meter

UNKNOWN_USERS = "unknown-users"
_WINDOW = timedelta(hours=1)
_HINT_DIGITS = 4  # hexadecimal
_READ = """
SELECT coalesce(sum(m.count), 0) AS misses, min(m.minute) AS first_miss FROM discovery_misses m
 WHERE m.app_id = %(app_pk)s AND m.hint = %(hint)s AND m.minute > %(since)s
"""
# For a statement that looks `u` of users up; its parameters are those of `parameters`. With EXISTS PostgreSQL may
# choose to gather everybody whom the app ever asked first; with LIMIT it looks for this one.
MISSES = f"({_READ}) g"
COLUMNS = """
g.misses, g.first_miss,
(SELECT 1 FROM consent_requests q WHERE q.app_id = %(app_pk)s AND q.user_id = u.id LIMIT 1) AS asked_before
"""
_COUNT = """
INSERT INTO discovery_misses (app_id, hint, minute, count) VALUES (%(app_pk)s, %(hint)s, %(minute)s, 1)
ON CONFLICT (app_id, hint, minute) DO UPDATE SET count = discovery_misses.count + 1
RETURNING count
"""
_READ_OTHERS = f"{_READ} AND m.minute <> %(minute)s"


def hashed_hint(app_pk: int, hint: str) -> str:
    """What a hint is kept as; none is kept as none."""
    if not hint:
        return ""
    said = f"client hint\x00{app_pk}\x00{hint}".encode("utf-8", "surrogatepass")
    return hmac.new(settings.SECRET_KEY.encode(), said, hashlib.sha256).hexdigest()[:_HINT_DIGITS]


def parameters(app_pk: int, hint: str) -> dict[str, Any]:
    """Of MISSES and COLUMNS; a second more or less decides nothing, so the clock is this process's."""
    since = connection.ops.adapt_datetimefield_value(timezone.now() - _WINDOW)
    return {"app_pk": app_pk, "hint": hashed_hint(app_pk, hint), "since": since}


def standing(row: Mapping[str, Any]) -> Count:
    """Where the app, or its caller, stands by the columns of MISSES."""
    limit = Limit(UNKNOWN_USERS, settings.UNKNOWN_USERS_PER_HOUR, int(_WINDOW.total_seconds()))
    first: datetime | None = utc(row["first_miss"])
    if first is None:
        return Count(limit, 0, limit.seconds)
    left = first + _WINDOW - timezone.now()
    return Count(limit, int(row["misses"]), max(1, int(left.total_seconds()) + 1))


def look(app_pk: int, hint: str) -> Count:
    """Where the app, or its caller, stands, without anybody being looked up."""
    return standing(rows(_READ, parameters(app_pk, hint))[0])


def admit(row: Mapping[str, Any], *, app_pk: int, meter: Meter) -> None:
    """Refuse the call where nobody is found, or too many were not found; `row` has COLUMNS and `user_pk`.

    Refusing only the misses would tell which people exist, so whoever guessed too often is refused for everybody but
    the people whom the app has asked before: those it knows.
    """
    found = standing(row)
    meter.note(found)
    if not row["asked_before"]:
        _refuse_guessing(found)
    if row["user_pk"] is None:
        if not row["asked_before"]:
            found = _count_miss(app_pk, meter.hint)
            meter.note(found)
            _refuse_guessing(found)
        raise UnknownUser


def _refuse_guessing(found: Count) -> None:
    if found.exceeded:
        raise TooManyRequests(
            "Too many people were asked about who do not exist.", headers={"Retry-After": str(found.resets_in)}
        )


def _count_miss(app_pk: int, hint: str) -> Count:
    """One more unknown person, and where that leads to.

    This minute's count comes back with the very statement that raises it: of many misses at once, each sees its own.
    """
    minute = connection.ops.adapt_datetimefield_value(database_now().replace(second=0, microsecond=0))
    given = {**parameters(app_pk, hint), "minute": minute}
    counted = rows(_COUNT, given)[0]["count"]
    others = rows(_READ_OTHERS, given)[0]
    first = others["first_miss"] or minute
    return standing({"misses": int(others["misses"]) + counted, "first_miss": first})
