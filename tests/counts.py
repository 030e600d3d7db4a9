"""The places that limits keep their counts in, empty before a test and after it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings

from common import limits
from common.models import RateCount

PLACES = ["database", "redis"]


def forget_all() -> None:
    """Begin anew for everybody."""
    forget_outside()
    RateCount.objects.all().delete()


def forget_outside() -> None:
    """The part of `forget_all` that no transaction takes back."""
    limits._paces.clear()
    store = limits._redis()
    if store is not None:
        for found in store.scan_iter(limits._redis_key("*"), count=1000):
            store.delete(found)


@contextmanager
def counts_in(place: str) -> Iterator[None]:
    """Limits count there and nowhere else; skips the test where this run has no such place."""
    with pytest.MonkeyPatch.context() as patch:
        if place == "database":
            patch.setattr(settings, "REDIS_URL", "")
        elif not settings.REDIS_URL:
            pytest.skip("REDIS_URL is not set")
        forget_all()
        yield
        forget_all()
