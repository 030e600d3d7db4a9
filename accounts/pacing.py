"""Buckets of tokens in memory, for limits that would cost more in a database than what they protect."""

import threading
from collections import OrderedDict
from collections.abc import Hashable

_REMEMBERED = 10_000  # keys; beyond, the one used longest ago is forgotten and starts afresh


class Buckets:
    """One bucket of tokens for each key, of `burst` and filled with `per_second`; per process, the memory bounded."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable, *, burst: int, per_second: float, now: float) -> float:
        """Take one token: 0 where there was one, else the seconds until there is."""
        with self._lock:
            level, at = self._levels.pop(key, (float(burst), now))
            level = min(float(burst), level + (now - at) * per_second)
            wait = 0.0 if level >= 1 else (1 - level) / per_second
            self._levels[key] = (level if wait else level - 1, now)
            while len(self._levels) > self._remembered:
                self._levels.popitem(last=False)
        return wait

    def __len__(self) -> int:
        return len(self._levels)

    def clear(self) -> None:
        with self._lock:
            self._levels.clear()
