"""Buckets of tokens in memory, for limits that would cost more in a database than what they protect."""

import math
import threading
from collections import OrderedDict
from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple

from common.limits import Count, Limit

_REMEMBERED = 10_000  # keys; beyond, the one used longest ago is forgotten and starts afresh


class Draw(NamedTuple):
    """What came of taking a token: seconds until there is one (0: it was taken), and how full the bucket is then."""

    wait: float
    level: float


class Buckets:
    """One bucket of tokens for each key, of `burst` and filled with `per_second`; per process, the memory bounded."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable, *, burst: int, per_second: float, now: float) -> float:
        """Take one token: 0 where there was one, else the seconds until there is."""
        return self.draw(key, burst=burst, per_second=per_second, now=now).wait

    def draw(self, key: Hashable, *, burst: int, per_second: float, now: float) -> Draw:
        """Take one token, and say what is left."""
        with self._lock:
            level = self._level(self._levels.pop(key, None), burst, per_second, now)
            wait = 0.0 if level >= 1 else (1 - level) / per_second
            left = level if wait else level - 1
            self._levels[key] = (left, now)
            while len(self._levels) > self._remembered:
                self._levels.popitem(last=False)
        return Draw(wait, left)

    def level(self, key: Hashable, *, burst: int, per_second: float, now: float) -> float:
        """How full the bucket is, without taking anything."""
        with self._lock:
            return self._level(self._levels.get(key), burst, per_second, now)

    @staticmethod
    def _level(known: tuple[float, float] | None, burst: int, per_second: float, now: float) -> float:
        if known is None:
            return float(burst)
        level, at = known
        return min(float(burst), level + (now - at) * per_second)

    def __len__(self) -> int:
        return len(self._levels)

    def clear(self) -> None:
        with self._lock:
            self._levels.clear()


def bucket_count(name: str, *, burst: int, per_second: float, level: float) -> Count:
    """A bucket as a limit of the `RateLimit` headers: `burst` in the time in which it fills."""
    filled_in = int((burst - level) / per_second) + 1
    return Count(_limit(name, burst, per_second), burst - int(level), filled_in)


@lru_cache(maxsize=64)
def _limit(name: str, burst: int, per_second: float) -> Limit:
    return Limit(name, burst, math.ceil(burst / per_second))
