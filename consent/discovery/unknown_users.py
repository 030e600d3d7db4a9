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
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from common.clock import database_now, utc
from common.limits import Count, Limit
from common.problems import TooManyRequests
from common.sql.counters import add_to_count
from common.sql.dialect import timestamp
from common.sql.statements import rows
from consent.discovery.models import DiscoveryMiss
from consent.errors import UnknownUser

UNKNOWN_USERS = "unknown-users"
_WINDOW = timedelta(hours=1)
_HINT_DIGITS = 4  # hexadecimal
_READ = """
SELECT coalesce(sum(m.count), 0) AS misses, min(m.minute) AS first_miss FROM discovery_misses m
 WHERE m.app_id = %(app_pk)s AND m.hint = %(hint)s AND m.minute > %(since)s
"""
# For the statement that looks `u` of users up; its parameters are those of `parameters`. With EXISTS PostgreSQL may
# choose to gather everybody whom the app ever asked first; with LIMIT it looks for this one.
MISSES = f"({_READ}) g"
COLUMNS = """
g.misses, g.first_miss,
(SELECT 1 FROM consent_requests q WHERE q.app_id = %(app_pk)s AND q.user_id = u.id LIMIT 1) AS asked_before
"""
_READ_OTHERS = f"{_READ} AND m.minute <> %(minute)s"


@dataclass(frozen=True)
class Guesses:
    """What is known of an app's guessing, or its caller's, and whether the app asked the person before."""

    misses: int  # within the window
    first_miss: datetime | None
    asked_before: bool = False


def hashed_hint(app_pk: int, hint: str) -> str:
    """What a hint is kept as; none is kept as none."""
    if not hint:
        return ""
    said = f"client hint\x00{app_pk}\x00{hint}".encode("utf-8", "surrogatepass")
    return hmac.new(settings.SECRET_KEY.encode(), said, hashlib.sha256).hexdigest()[:_HINT_DIGITS]


def parameters(app_pk: int, hint: str) -> dict[str, Any]:
    """Of MISSES and COLUMNS; a second more or less decides nothing, so the clock is this process's."""
    since = timestamp(timezone.now() - _WINDOW)
    return {"app_pk": app_pk, "hint": hashed_hint(app_pk, hint), "since": since}


def look(app_pk: int, hint: str) -> Count:
    """Where the app, or its caller, stands, without anybody being looked up."""
    return _standing(_read(_READ, parameters(app_pk, hint)))


def admit(*, app_pk: int, user_pk: int | None, guesses: Guesses, hint: str) -> tuple[int, Count]:
    """The person, where there is one; else count the miss. Refuse the call where too many were not found.

    Returns with the person where the app, or its caller, stands.

    Refusing only the misses would tell which people exist, so whoever guessed too often is refused for everybody but
    the people whom the app has asked before: those it knows.
    """
    found = _standing(guesses)
    if not guesses.asked_before:
        _refuse_guessing(found)
    if user_pk is not None:
        return user_pk, found
    if not guesses.asked_before:
        found = _count_miss(app_pk, hint)
        _refuse_guessing(found)
    raise UnknownUser(limits=[found])


def _standing(guesses: Guesses) -> Count:
    limit = Limit(UNKNOWN_USERS, settings.UNKNOWN_USERS_PER_HOUR, int(_WINDOW.total_seconds()))
    if guesses.first_miss is None:
        return Count(limit, 0, limit.seconds)
    left = guesses.first_miss + _WINDOW - timezone.now()
    return Count(limit, guesses.misses, max(1, int(left.total_seconds()) + 1))


def _read(statement: str, given: dict[str, Any]) -> Guesses:
    row = rows(statement, given)[0]
    return Guesses(int(row["misses"]), utc(row["first_miss"]))


def _refuse_guessing(found: Count) -> None:
    if found.exceeded:
        raise TooManyRequests(
            "Too many people were asked about who do not exist.",
            headers={"Retry-After": str(found.resets_in)},
            limits=[found],
        )


def _count_miss(app_pk: int, hint: str) -> Count:
    """One more unknown person, and where that leads to.

    This minute's count comes back with the very statement that raises it: of many misses at once, each sees its own.
    """
    minute = database_now().replace(second=0, microsecond=0)
    given = parameters(app_pk, hint)
    counted = add_to_count(DiscoveryMiss, key={"app": app_pk, "hint": given["hint"], "minute": minute})
    others = _read(_READ_OTHERS, {**given, "minute": timestamp(minute)})
    return _standing(Guesses(others.misses + counted, others.first_miss or minute))
