"""Who keeps asking about people who do not exist (contract 1.2).

Misses are counted for an app, or for an app and the hint that it gives of its own caller: whoever types wrong IDs into
an app's form then locks out themselves and nobody else. People whom the app has asked before neither count nor are
refused. The count lies in the database, since the statement that looks a person up reads it along: an answer from Redis
would cost a discovery half as much again.

Hints have no ceiling of their own. An ID has 128 random bits, so nobody finds one by trying, however many hints they
make up, while a ceiling would give a stranger back what hints take from them: the means to lock an app out. What a
flood of hints may fill is bounded instead: a hint is kept as 16 bits of a keyed hash, so an app has 65,536 counters.
"""

import hashlib
import hmac

from django.conf import settings

from common import limits
from common.limits import Count, Limit
from common.problems import TooManyRequests
from consent.errors import UnknownUser

UNKNOWN_USERS = "unknown-users"
_HOUR = 3600  # seconds
_HINT_DIGITS = 4  # hexadecimal
_REFUSED = "Too many people were asked about who do not exist."


def peek(app_pk: int, hint: str) -> Count:
    """Where the app, or its caller, stands."""
    return limits.peek(limit(), counter_of(app_pk, hint))


def admit(*, app_pk: int, user_pk: int | None, requested_before: bool, misses: Count, hint: str) -> tuple[int, Count]:
    """The person, where there is one; else count the miss. Refuse the call where too many were not found.

    Returns with the person where the app, or its caller, stands. Before the transaction: a refusal must not undo its
    own count.

    Refusing only the misses would tell which people exist, so whoever guessed too often is refused for everybody but
    the people whom the app has asked before: those it knows.
    """
    if not requested_before:
        misses.require(TooManyRequests, _REFUSED)
    if user_pk is not None:
        return user_pk, misses
    if not requested_before:
        misses = limits.count(limit(), counter_of(app_pk, hint))
        misses.require(TooManyRequests, _REFUSED)
    raise UnknownUser(limits=[misses])


def counter_of(app_pk: int, hint: str) -> str:
    """What the misses of an app, or of its caller, are counted under."""
    if not hint:
        return str(app_pk)
    named = f"client hint\x00{app_pk}\x00{hint}".encode("utf-8", "surrogatepass")
    return f"{app_pk} {hmac.new(settings.SECRET_KEY.encode(), named, hashlib.sha256).hexdigest()[:_HINT_DIGITS]}"


def limit() -> Limit:
    return Limit(UNKNOWN_USERS, settings.UNKNOWN_USERS_PER_HOUR, _HOUR, in_database=True)
