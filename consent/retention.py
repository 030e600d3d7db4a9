"""Deleting what has served its time."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from django.conf import settings

from accounts.sign_in.sessions import SessionStore
from common.batches import delete_all, is_database_away
from common.clock import database_now
from consent.connections.models import Connection
from consent.discovery.models import DirectoryFind, Discovery
from consent.exports.forgetting import forget_reads
from consent.notices.forgetting import forget_notices
from consent.notices.models import WebhookDelivery
from consent.requests.published_keys import forget_decided
from developers.idempotency import forget_expired_keys
from developers.webhooks.actions import forget_previous_secrets
from pkm.vault.actions import forget_removed_wrappers

_CONNECTIONS_KEPT = timedelta(days=40)  # what rode along waits for 30 at most, and who met whom stands in app_people
_AT_ONCE = 20.0  # seconds of one run, for each table


def forget_what_is_over() -> int:
    """Returns how many rows went. Raises an `ExceptionGroup` of what failed, once everything else was done."""
    now = database_now()
    return _each_in_turn(
        partial(forget_expired_keys, now=now),
        partial(forget_previous_secrets, now=now),
        forget_decided,
        forget_removed_wrappers,
        SessionStore.clear_expired,
    )


def forget_old_records() -> int:
    """Delete what is older than its setting allows, in batches by index; returns how many rows went.

    Never what something still hangs on: a delivery that waits, whatever its age, stays until it is finished, and its
    notice as long. Raises an `ExceptionGroup` of what could not be deleted, once everything else was.
    """
    now = database_now()
    delivered = now - timedelta(days=settings.DELIVERIES_KEPT_DAYS)
    discovered = (now - timedelta(days=settings.DISCOVERIES_KEPT_DAYS)).date()
    deliveries = WebhookDelivery.objects.filter(finished_at__lt=delivered).order_by("finished_at")
    discoveries = Discovery.objects.filter(day__lt=discovered).order_by("day")
    finds = DirectoryFind.objects.filter(day__lt=discovered).order_by("day")
    connections = Connection.objects.filter(created_at__lt=now - _CONNECTIONS_KEPT).order_by("created_at")
    return _each_in_turn(
        *(partial(delete_all, old, most_seconds=_AT_ONCE) for old in (deliveries, discoveries, finds, connections)),
        partial(forget_reads, most_seconds=_AT_ONCE),
        partial(forget_notices, most_seconds=_AT_ONCE),
    )


def _each_in_turn(*parts: Callable[[], int]) -> int:
    """The sum of their answers. What one table refuses keeps no other from its turn."""
    gone, failures = 0, []
    for part in parts:
        try:
            gone += part()
        except Exception as failure:
            if is_database_away(failure):
                raise
            failures.append(failure)
    if failures:
        raise ExceptionGroup("Not everything that is over could be deleted", failures)
    return gone
