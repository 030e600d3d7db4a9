"""The end of what was written down about calls."""

from datetime import timedelta

from django.conf import settings

from common.batches import delete_all
from common.clock import database_now
from developers.request_log.models import LoggedRequest

_AT_ONCE = 60.0  # seconds of one run


def forget_old_requests() -> int:
    """Delete what is older than REQUEST_LOG_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.REQUEST_LOG_DAYS)
    return delete_all(LoggedRequest.objects.filter(at__lt=limit).order_by("at"), most_seconds=_AT_ONCE)
