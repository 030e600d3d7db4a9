"""Django's cache in the database: what one process keeps there, every process sees, and nothing pushes it out.

The packages that we use remember little there (allauth: which one-time codes were used), and remember it for safety, so
no entry goes before its time. Values are kept as JSON: Django's own backends pickle, and what can be written to such a
store could run in this process.
"""

import json
import time
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection
from django.db.models import Q

from common import heartbeats
from common.models import CacheEntry

_ADD = """
INSERT INTO cache_entries (key, value, expires_at) VALUES (%(key)s, %(value)s, %(until)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
 WHERE cache_entries.expires_at <= %(now)s
RETURNING key
"""


class SharedCache(BaseCache):
    """`CACHES = {"default": {"BACKEND": "common.cache.SharedCache"}}`. Counts go to common/limits.py."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def add(self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Whether it was not there; of many callers at once, exactly one hears so."""
        bound = {
            "key": self.make_and_validate_key(key, version),
            "value": json.dumps(value),
            "until": self._until(timeout),
            "now": _now(),
        }
        with connection.cursor() as cursor:
            cursor.execute(_ADD, bound)
            return cursor.fetchone() is not None

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        name = self.make_and_validate_key(key, version)
        value = CacheEntry.objects.filter(_live(), key=name).values_list("value", flat=True).first()
        return default if value is None else json.loads(value)

    def set(self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        CacheEntry.objects.update_or_create(
            key=self.make_and_validate_key(key, version),
            defaults={"value": json.dumps(value), "expires_at": self._until(timeout)},
        )

    def touch(self, key: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        live = CacheEntry.objects.filter(_live(), key=self.make_and_validate_key(key, version))
        return bool(live.update(expires_at=self._until(timeout)))

    def delete(self, key: Any, version: int | None = None) -> bool:
        deleted, _ = CacheEntry.objects.filter(key=self.make_and_validate_key(key, version)).delete()
        return bool(deleted)

    def clear(self) -> None:
        CacheEntry.objects.all().delete()

    def _until(self, timeout: float | None) -> int | None:
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if seconds is None else _now() + int(seconds * 1000)


def forget_expired() -> int:
    """Delete the entries whose time is over; returns how many went."""
    # heartbeats, two rows, go by the database's clock, which this process's may be ahead of
    over = CacheEntry.objects.filter(expires_at__lte=_now()).exclude(key__startswith=heartbeats.PREFIX)
    deleted, _ = over.delete()
    return deleted


def _live() -> Q:
    return Q(expires_at__isnull=True) | Q(expires_at__gt=_now())


def _now() -> int:
    return int(time.time() * 1000)
