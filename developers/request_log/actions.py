"""The end of what was written down about calls."""

from datetime import timedelta

from django.conf import settings

from common.clock import database_now
from developers.request_log.models import LoggedRequest

_BATCH = 5000  # rows of one statement, so that no lock and no transaction lasts
_BATCHES = 200  # of one run; the next run goes on


def forget_old_requests() -> int:
    """Delete what is older than REQUEST_LOG_DAYS; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.REQUEST_LOG_DAYS)
    deleted = 0
    for _ in range(_BATCHES):
        old = LoggedRequest.objects.filter(at__lt=limit).order_by("at").values_list("pk", flat=True)[:_BATCH]
        went, _by_record = LoggedRequest.objects.filter(pk__in=list(old)).delete()
        deleted += went
        if went < _BATCH:
            break
    return deleted
