"""Deleting what has served its time and proves nothing."""

from datetime import timedelta

from accounts.sign_in.sessions import SessionStore
from common.clock import database_now
from consent.discovery.models import DiscoveryMiss
from developers.idempotency import forget_expired_keys
from developers.webhooks.actions import forget_previous_secrets
from pkm.vault.actions import forget_removed_wrappers

_MISSES_KEPT = timedelta(hours=2)


def forget_what_is_over() -> int:
    """Returns how many rows went."""
    now = database_now()
    misses, _ = DiscoveryMiss.objects.filter(minute__lt=now - _MISSES_KEPT).delete()
    developers = forget_expired_keys(now=now) + forget_previous_secrets(now=now)
    return misses + developers + forget_removed_wrappers() + SessionStore.clear_expired()
