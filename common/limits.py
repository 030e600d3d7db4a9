"""Limits that all processes share: how often something may happen within a window of time.

Counts live in Redis where `REDIS_URL` is set and answers, else in the database. A window begins with its first count
and ends `seconds` later; counting is atomic, so of many callers at once exactly the allowed number passes. What is
counted in the database belongs to the caller's transaction: count before `atomic`, or a refusal undoes its own count.
"""

import hashlib
import hmac
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings
from django.db import connection

from common.models import RateCount

_log = logging.getLogger(__name__)
_REDIS_TIMEOUT = 0.25  # seconds: a store that does not answer holds nobody up for longer
_REDIS_PAUSE = 5.0  # seconds without asking it again after it failed
_MOST_USED = 2**31 - 1
_COUNT = """
INSERT INTO rate_counts (key, used, resets_at) VALUES (%(key)s, %(amount)s, %(until)s)
ON CONFLICT (key) DO UPDATE
   SET used = CASE WHEN rate_counts.resets_at <= %(now)s THEN excluded.used ELSE rate_counts.used + excluded.used END,
       resets_at = CASE WHEN rate_counts.resets_at <= %(now)s THEN excluded.resets_at ELSE rate_counts.resets_at END
RETURNING used, resets_at
"""
_UNDO_IN_REDIS = """
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
end
"""
_COUNT_IN_REDIS = """
local used = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {used, left}
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `allowed` within `seconds`; 0 allowed is no limit. `name` is the policy that `RateLimit-Policy` shows.

    0 seconds: of what there may be at one time, however long; the caller counts that itself.
    """

    name: str
    allowed: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Count:
    """How much of a limit one key has used, and in how many whole seconds its window ends; 0 where nobody can say."""

    limit: Limit
    used: int
    resets_in: int

    @property
    def remaining(self) -> int:
        return max(0, self.limit.allowed - self.used)

    @property
    def exceeded(self) -> bool:
        """Whether what was counted last went beyond the limit."""
        return bool(self.limit.allowed) and self.used > self.limit.allowed


def count(limit: Limit, key: str, *, amount: int = 1) -> Count:
    """Count `amount` for `key` and say where it stands then. What is refused counts too; 0 looks without counting."""
    if not limit.allowed:
        return Count(limit, 0, limit.seconds)
    name = _name(limit, key)
    counted = _in_redis(name, limit, amount)
    used, left = counted if counted is not None else _in_database(name, limit, amount)
    return Count(limit, used, max(1, -(-left // 1000)))


def look(limit: Limit, key: str) -> Count:
    """Where `key` stands, without counting anything."""
    return count(limit, key, amount=0)


def undo(limit: Limit, key: str, *, amount: int = 1) -> None:
    """Take back what was counted in a transaction that came to nothing: with it went a count in the database alone."""
    store = _redis()
    if store is not None and limit.allowed:
        try:
            store.eval(_UNDO_IN_REDIS, 1, _redis_key(_name(limit, key)), str(amount))
        except redis.RedisError as error:
            _set_aside(error)


def forget(limit: Limit, key: str) -> None:
    """Begin anew for `key`, as after a success that makes earlier failures void."""
    name = _name(limit, key)
    store = _redis()
    if store is not None:
        try:
            store.delete(_redis_key(name))
        except redis.RedisError as error:
            _set_aside(error)
    RateCount.objects.filter(key=name).delete()


def forget_expired() -> int:
    """Delete the database's counts whose window is over; returns how many went."""
    deleted, _ = RateCount.objects.filter(resets_at__lte=_now()).delete()
    return deleted


def forget_all() -> None:
    """Begin anew for everybody."""
    forget_in_redis()
    RateCount.objects.all().delete()


def forget_in_redis() -> None:
    """The part of `forget_all` that no transaction takes back."""
    store = _redis()
    if store is not None:
        for found in store.scan_iter(_redis_key("*"), count=1000):
            store.delete(found)


def headers(counts: Iterable[Count]) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of the limits that are on."""
    policies, standings = [], []
    for found in counts:
        limit = found.limit
        if limit.allowed:
            policies.append(_policy(limit.name, limit.allowed, limit.seconds))
            ends = f";t={found.resets_in}" if found.resets_in else ""
            standings.append(f'"{limit.name}";r={found.remaining}{ends}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(standings)} if policies else {}


@lru_cache(maxsize=256)
def _policy(name: str, allowed: int, seconds: int) -> str:
    return f'"{name}";q={allowed};w={seconds}' if seconds else f'"{name}";q={allowed}'


def _name(limit: Limit, key: str) -> str:
    """What the count is kept under: nobody reads an address or an account out of the store."""
    told = f"{limit.name}\x00{limit.seconds}\x00{key}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), told, hashlib.sha256).hexdigest()[:40]


def _now() -> int:
    return int(time.time() * 1000)


def _in_database(name: str, limit: Limit, amount: int) -> tuple[int, int]:
    now = _now()
    if not amount:
        row = RateCount.objects.filter(key=name, resets_at__gt=now).values_list("used", "resets_at").first()
        return (row[0], row[1] - now) if row else (0, limit.seconds * 1000)
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT,
            {"key": name, "amount": min(amount, _MOST_USED), "until": now + limit.seconds * 1000, "now": now},
        )
        used, resets_at = cursor.fetchone()
    return int(used), int(resets_at) - now


def _in_redis(name: str, limit: Limit, amount: int) -> tuple[int, int] | None:
    """Counted in Redis, or None where there is none that answers."""
    store = _redis()
    if store is None:
        return None
    key = _redis_key(name)
    try:
        if not amount:
            with store.pipeline(transaction=False) as both:
                both.get(key)
                both.pttl(key)
                used, left = both.execute()
            return (int(used), left) if used is not None and left > 0 else (0, limit.seconds * 1000)
        used, left = store.eval(_COUNT_IN_REDIS, 1, key, str(amount), str(limit.seconds * 1000))
    except redis.RedisError as error:
        _set_aside(error)
        return None
    return int(used), int(left)


def _redis_key(name: str) -> str:
    # deployments, and the processes of a test run, may share one Redis but never a database
    return f"limit:{connection.settings_dict['NAME']}:{name}"


_ask_again_at = 0.0  # by the monotonic clock


def _set_aside(error: Exception) -> None:
    """Count in the database for a while: limits go on, and no request waits for a store that is away."""
    global _ask_again_at
    _ask_again_at = time.monotonic() + _REDIS_PAUSE
    _log.warning("Limits are counted in the database for %d s: Redis failed: %s", _REDIS_PAUSE, type(error).__name__)


def _redis() -> redis.Redis | None:
    if not settings.REDIS_URL or time.monotonic() < _ask_again_at:
        return None
    return _client(settings.REDIS_URL)


@lru_cache(maxsize=2)
def _client(url: str) -> redis.Redis:
    client: redis.Redis = redis.Redis.from_url(
        url, socket_timeout=_REDIS_TIMEOUT, socket_connect_timeout=_REDIS_TIMEOUT, max_connections=1000
    )
    return client
