"""Deleting what has served its time."""

from datetime import timedelta

from django.conf import settings

from accounts.sign_in.sessions import SessionStore
from common.batches import delete_all
from common.clock import database_now
from consent.discovery.models import DirectoryFind, Discovery, DiscoveryMiss
from consent.exports.forgetting import forget_reads
from consent.notices.forgetting import forget_notices
from consent.notices.models import WebhookDelivery
from developers.idempotency import forget_expired_keys
from developers.webhooks.actions import forget_previous_secrets
from pkm.vault.actions import forget_removed_wrappers

_MISSES_KEPT = timedelta(hours=2)
_AT_ONCE = 20.0  # seconds of one run, for each table


def forget_what_is_over() -> int:
    """Returns how many rows went."""
    now = database_now()
    misses, _ = DiscoveryMiss.objects.filter(minute__lt=now - _MISSES_KEPT).delete()
    developers = forget_expired_keys(now=now) + forget_previous_secrets(now=now)
    return misses + developers + forget_removed_wrappers() + SessionStore.clear_expired()


def forget_old_records() -> int:
    """Delete what is older than its setting allows, in batches by index; returns how many rows went.

    Never what something still hangs on: a delivery that waits, whatever its age, stays until it is finished, and its
    notice as long.
    """
    now = database_now()
    delivered = now - timedelta(days=settings.DELIVERIES_KEPT_DAYS)
    discovered = (now - timedelta(days=settings.DISCOVERIES_KEPT_DAYS)).date()
    old = (
        WebhookDelivery.objects.filter(finished_at__lt=delivered).order_by("finished_at"),
        Discovery.objects.filter(day__lt=discovered).order_by("day"),
        DirectoryFind.objects.filter(day__lt=discovered).order_by("day"),
    )
    gone = sum(delete_all(rows, most_seconds=_AT_ONCE) for rows in old)
    return gone + forget_reads(most_seconds=_AT_ONCE) + forget_notices(most_seconds=_AT_ONCE)
