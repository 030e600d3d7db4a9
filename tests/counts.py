"""The places that limits keep their counts in, empty before a test and after it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.conf import settings

from common import limits

PLACES = ["database", "redis"]


@contextmanager
def counts_in(place: str) -> Iterator[None]:
    """Limits count there and nowhere else; skips the test where this run has no such place."""
    with pytest.MonkeyPatch.context() as patch:
        if place == "database":
            patch.setattr(settings, "REDIS_URL", "")
        elif not settings.REDIS_URL:
            pytest.skip("REDIS_URL is not set")
        limits.forget_all()
        yield
        limits.forget_all()
