"""What the worker does for every room on a timer."""

from celery import shared_task

from common import cache
from common.limits import forget_expired


@shared_task
def forget_rate_counts() -> int:
    """Delete counts of limits, and entries of the cache, whose time is over."""
    return forget_expired() + cache.forget_expired()
