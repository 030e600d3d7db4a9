"""Every task of this room, for the worker, which looks for them here."""

from datetime import timedelta

from celery import shared_task
from django.conf import settings

from agents_proxy.activations.tasks import resume_activations, send_activation
from agents_proxy.analyses.tasks import (
    purge_analyses,
    resume_analyses,
    resume_corrections,
    run_analysis,
    tell_corrections,
)
from agents_proxy.deletions.tasks import forget_deletions, resume_deletions, send_deletion
from agents_proxy.financial.tasks import maintain_institutions, refresh_item
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.models import Call
from common.batches import delete_all
from common.clock import database_now

_AT_ONCE = 20.0  # seconds of one run

__all__ = [
    "forget_agent_calls",
    "forget_deletions",
    "maintain_institutions",
    "purge_analyses",
    "refresh_item",
    "resume_activations",
    "resume_analyses",
    "resume_corrections",
    "resume_deletions",
    "run_analysis",
    "send_activation",
    "send_deletion",
    "tell_corrections",
    "write_down_expired_consents",
]


@shared_task(name="agents_proxy.tasks.forget_agent_calls")
def forget_agent_calls() -> int:
    """Delete the calls that are older than AGENT_CALLS_KEPT_DAYS, in batches; returns how many rows went."""
    limit = database_now() - timedelta(days=settings.AGENT_CALLS_KEPT_DAYS)
    return delete_all(Call.objects.filter(started_at__lt=limit).order_by("started_at"), most_seconds=_AT_ONCE)


@shared_task(name="agents_proxy.tasks.write_down_expired_consents")
def write_down_expired_consents() -> int:
    """Tell apps of the consents that ran out; returns how many."""
    return consents.write_down_expiry()
