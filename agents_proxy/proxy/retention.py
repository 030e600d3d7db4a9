"""The end of what was written down about calls to agents."""

from datetime import timedelta

from django.conf import settings

from agents_proxy.proxy.models import Call
from common.batches import delete_all
from common.clock import database_now

_AT_ONCE = 20.0  # seconds of one run


def forget_old_calls() -> int:
    """Delete what is older than AGENT_CALLS_KEPT_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.AGENT_CALLS_KEPT_DAYS)
    return delete_all(Call.objects.filter(started_at__lt=limit).order_by("started_at"), most_seconds=_AT_ONCE)
