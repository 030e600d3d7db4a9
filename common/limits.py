"""Limits: how often something may happen. Whatever is limited is counted here, through one interface:

    found = count(Limit("people-searches", 60, 3600), str(app_pk))  # one more; `peek` counts nothing
    found.require(TooManyRequests)  # raises where it was one too many, with `Retry-After`
    headers([found])  # what the answer says of it

A **window** begins with its first count and ends `seconds` later. All processes share it: counts lie in Redis where
`REDIS_URL` is set and answers, else in the database, from nothing. Counting is atomic, so of many callers at once
exactly the allowed number passes. What is counted in the database belongs to the caller's transaction: a limit that
refuses is counted before `atomic`, or the refusal undoes its own count; what goes with the rows written, inside.

A **pace** is a burst, and then so many a second. Each process keeps it in its own memory, since a store would cost more
than the cheap calls that it paces; with n processes n times as much may pass.

What there may be **at one time** (`seconds` is 0) is counted by whoever has the rows or holds the callers; only `Count`
and `headers` are of use to it.
"""

import hashlib
import hmac
import logging
import math
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from django.conf import settings
from django.db import connection, transaction

from common.models import RateCount

if TYPE_CHECKING:
    from redis import Redis

_log = logging.getLogger(__name__)
_REDIS_TIMEOUT = 0.25  # seconds: a store that does not answer holds nobody up for longer
_REDIS_PAUSE = 5.0  # seconds without asking it again after it failed
_MOST_USED = 2**31 - 1
_PACED = 10_000  # keys of one pace that a process remembers; the one used longest ago is forgotten and starts afresh
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `allowed` within `seconds`; 0 allowed is no limit. `name` is the policy that `RateLimit-Policy` shows.

    With `per_second` it is a pace (see `pace`). One that is `in_database` is counted there even where there is Redis,
    so that a statement of its caller can read it along (`row_key`, `count_of_row`), or so that the count is kept with
    what the caller's transaction writes, or not at all.
    """

    name: str
    allowed: int
    seconds: int
    per_second: float = 0
    in_database: bool = False


@lru_cache(maxsize=64)
def pace(name: str, *, burst: int, per_second: float) -> Limit:
    """At most `burst` at once, and then `per_second`; 0 of either is no limit."""
    if not burst or not per_second:
        return Limit(name, 0, 0)
    return Limit(name, burst, math.ceil(burst / per_second), per_second)


@dataclass(frozen=True, slots=True)
class Count:
    """How much of a limit one key has used, and in how many whole seconds none of it is; 0 where nobody can say.

    `wait` are the seconds until one more may pass, where that is sooner.
    """

    limit: Limit
    used: int
    resets_in: int
    wait: int = 0

    @property
    def remaining(self) -> int:
        return max(0, self.limit.allowed - self.used)

    @property
    def exceeded(self) -> bool:
        """Whether what was counted last went beyond the limit."""
        return bool(self.limit.allowed) and self.used > self.limit.allowed

    @property
    def retry_after(self) -> dict[str, str]:
        """The header of a refusal."""
        return {"Retry-After": str(self.wait or self.resets_in)}

    def require(self, refusal: Callable[..., Exception], detail: str = "") -> None:
        """Raise `refusal`, a kind or class of problem, where what was counted last went beyond the limit."""
        if self.exceeded:
            raise refusal(detail, headers=self.retry_after, limits=[self])


def count(limit: Limit, key: str, *, amount: int = 1) -> Count:
    """Count `amount` for `key` and say where it stands then. What a window refuses counts too; 0 only looks."""
    if not limit.allowed:
        return Count(limit, 0, limit.seconds)
    if limit.per_second:
        return _paces[limit.name].count(limit, key, amount, now=time.monotonic())
    name = _name(limit, key)
    if limit.in_database:
        used, left = _Database().count(name, limit.seconds, amount)
    else:
        used, left = _shared(lambda store: store.count(name, limit.seconds, amount))
    return _window(limit, used, left)


def _window(limit: Limit, used: int, left: int) -> Count:
    return Count(limit, used, max(1, -(-left // 1000)))


def row_key(limit: Limit, key: str) -> str:
    """The `key` in `rate_counts` of a limit that is `in_database`."""
    return _name(limit, key)


def count_of_row(limit: Limit, used: int | None, resets_at: int | None) -> Count:
    """Where a key stands whose `used` and `resets_at` were read along; None where it has no row."""
    if used is None or resets_at is None or not limit.allowed or resets_at <= (now := _now()):
        return Count(limit, 0, limit.seconds)
    return _window(limit, used, resets_at - now)


def peek(limit: Limit, key: str) -> Count:
    """Where `key` stands, without counting anything."""
    return count(limit, key, amount=0)


def undo(limit: Limit, key: str) -> None:
    """Take back one that was counted in a transaction that came to nothing.

    A process that is killed before it comes to this leaves the count: for what must come through when it is sent again,
    count `in_database`.
    """
    if limit.allowed:
        _shared(lambda store: store.undo(_name(limit, key)))


def forget(limit: Limit, key: str) -> None:
    """Begin anew for `key`, as after a success that makes earlier failures void."""
    name = _name(limit, key)
    if settings.REDIS_URL:
        _shared(lambda store: store.forget(name))
    _Database().forget(name)  # where it may have been counted while Redis was away


def forget_expired() -> int:
    """Delete the database's counts whose window is over; returns how many went."""
    over = RateCount.objects.filter(resets_at__lte=_now())
    with transaction.atomic():
        # what somebody counts at the moment stays: they may have locked another that this would wait for
        deleted, _ = RateCount.objects.filter(pk__in=over.select_for_update(skip_locked=True).values("pk")).delete()
    return deleted


def headers(counts: Iterable[Count]) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of the limits that are on."""
    policies, states = [], []
    for found in counts:
        limit = found.limit
        if limit.allowed:
            policies.append(_policy(limit.name, limit.allowed, limit.seconds))
            ends = f";t={found.resets_in}" if found.resets_in else ""
            states.append(f'"{limit.name}";r={found.remaining}{ends}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)} if policies else {}


@lru_cache(maxsize=256)
def _policy(name: str, allowed: int, seconds: int) -> str:
    return f'"{name}";q={allowed};w={seconds}' if seconds else f'"{name}";q={allowed}'


# --- Where counts lie -------------------------------------------------------------------------------------------------
class Store(Protocol):
    """A place that all processes share. `name` is what `_name` makes of a limit and a key."""

    def count(self, name: str, seconds: int, amount: int) -> tuple[int, int]:
        """Add `amount`; returns how much is used then, and the milliseconds until the window ends."""

    def undo(self, name: str) -> None:
        """Take one back that the end of a transaction did not."""

    def forget(self, name: str) -> None: ...


class _Database:
    _COUNT = """
    INSERT INTO rate_counts (key, used, resets_at) VALUES (%(key)s, %(amount)s, %(until)s)
    ON CONFLICT (key) DO UPDATE
       SET used = CASE WHEN rate_counts.resets_at <= %(now)s THEN excluded.used ELSE rate_counts.used + excluded.used END,
           resets_at = CASE WHEN rate_counts.resets_at <= %(now)s THEN excluded.resets_at ELSE rate_counts.resets_at END
    RETURNING used, resets_at
    """  # noqa: E501
    _LOOK = "SELECT used, resets_at FROM rate_counts WHERE key = %(key)s AND resets_at > %(now)s"

    def count(self, name: str, seconds: int, amount: int) -> tuple[int, int]:
        now = _now()
        until = now + seconds * 1000
        given: dict[str, int | str] = {"key": name, "amount": min(amount, _MOST_USED), "until": until, "now": now}
        with connection.cursor() as cursor:
            cursor.execute(self._COUNT if amount else self._LOOK, given)
            used, resets_at = cursor.fetchone() or (0, until)
        return int(used), int(resets_at) - now

    def undo(self, name: str) -> None:
        pass  # it went with the transaction

    def forget(self, name: str) -> None:
        RateCount.objects.filter(key=name).delete()


class _Redis:
    _COUNT = """
    local used = redis.call('INCRBY', KEYS[1], ARGV[1])
    local left = redis.call('PTTL', KEYS[1])
    if left < 0 then
      left = tonumber(ARGV[2])
      redis.call('PEXPIRE', KEYS[1], left)
    end
    return {used, left}
    """
    _UNDO = "if tonumber(redis.call('GET', KEYS[1]) or '0') >= 1 then redis.call('DECR', KEYS[1]) end"

    def __init__(self, client: "Redis") -> None:
        self._client = client

    def count(self, name: str, seconds: int, amount: int) -> tuple[int, int]:
        key = _redis_key(name)
        if amount:
            used, left = self._client.eval(self._COUNT, 1, key, str(amount), str(seconds * 1000))
            return int(used), int(left)
        with self._client.pipeline(transaction=False) as both:
            both.get(key)
            both.pttl(key)
            used, left = both.execute()
        return (int(used), left) if used is not None and left > 0 else (0, seconds * 1000)

    def undo(self, name: str) -> None:
        self._client.eval(self._UNDO, 1, _redis_key(name))

    def forget(self, name: str) -> None:
        self._client.delete(_redis_key(name))


class Pace:
    """One bucket of tokens for each key, in memory, which is bounded."""

    def __init__(self, remembered: int = _PACED) -> None:
        self._remembered = remembered
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when there were so many
        self._lock = threading.Lock()

    def count(self, limit: Limit, key: str, amount: int, *, now: float) -> Count:
        """Take `amount` tokens where there are so many, else none. `now` are seconds of any steady clock."""
        with self._lock:
            level, at = self._levels.get(key, (float(limit.allowed), now))
            level = min(float(limit.allowed), level + (now - at) * limit.per_second)
            lacking = max(0.0, amount - level)
            level -= 0 if lacking else amount
            if amount:
                self._levels[key] = (level, now)
                self._levels.move_to_end(key)
                while len(self._levels) > self._remembered:
                    self._levels.popitem(last=False)
        used = limit.allowed - int(level) + (amount if lacking else 0)
        full_in = int((limit.allowed - level) / limit.per_second) + 1
        return Count(limit, used, full_in, math.ceil(lacking / limit.per_second))

    def __len__(self) -> int:
        return len(self._levels)


_paces: defaultdict[str, Pace] = defaultdict(Pace)  # by the limit's name: a flood of one pushes nothing out of another


def _name(limit: Limit, key: str) -> str:
    """What the count is kept under: nobody reads an address or an account out of the store."""
    named = f"{limit.name}\x00{limit.seconds}\x00{key}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), named, hashlib.sha256).hexdigest()[:40]


def _now() -> int:
    return int(time.time() * 1000)


def _redis_key(name: str) -> str:
    # deployments, and the processes of a test run, may share one Redis but never a database
    return f"limit:{connection.settings_dict['NAME']}:{name}"


_retry_at = 0.0  # by the monotonic clock


def _shared(act: Callable[[Store], _T]) -> _T:
    """Do it in Redis, or in the database where there is no Redis that answers.

    After a failure the database is taken for a while: limits go on, and no request waits for a store that is away.
    """
    global _retry_at
    client = _redis()
    if client is not None:
        from redis import RedisError

        try:
            return act(_Redis(client))
        except RedisError as error:
            _retry_at = time.monotonic() + _REDIS_PAUSE
            failed = type(error).__name__
            _log.warning("Limits are counted in the database for %d s: Redis failed: %s", _REDIS_PAUSE, failed)
    return act(_Database())


def _redis() -> "Redis | None":
    if not settings.REDIS_URL or time.monotonic() < _retry_at:
        return None
    return _client(settings.REDIS_URL)


@lru_cache(maxsize=2)
def _client(url: str) -> "Redis":
    from redis import Redis  # a tenth of each command's start, and many commands need none

    client: Redis = Redis.from_url(
        url, socket_timeout=_REDIS_TIMEOUT, socket_connect_timeout=_REDIS_TIMEOUT, max_connections=1000
    )
    return client
