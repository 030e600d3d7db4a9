"""What the worker does for this room on a timer."""

from celery import shared_task

from developers.apps import domain_proof, logos
from developers.oauth.actions import forget_secrets
from developers.oauth.clients import forget_unused_clients
from developers.request_log.recording import forget_old_requests


@shared_task
def recheck_domains() -> int:
    """Look again for the proofs of apps' domains, each once a day."""
    return domain_proof.recheck_domains()


@shared_task
def forget_unused_logos() -> int:
    """Delete pictures that no app and no application shows."""
    return logos.forget_unused_logos()


@shared_task
def forget_oauth() -> int:
    """Delete clients that nobody connected within a week, and codes and tokens that are over."""
    return forget_secrets() + forget_unused_clients()


@shared_task
def forget_logged_requests() -> int:
    """Delete what the request log has kept long enough."""
    return forget_old_requests()
