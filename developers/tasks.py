"""What the worker does for this room on a timer."""

from celery import shared_task

from developers.applications import mail as application_mail
from developers.apps import domain_proof, logos
from developers.members import mail as team_mail
from developers.members import suspension_mail
from developers.request_log.actions import forget_old_requests
from developers.tokens.mails import send_due_token_mails


@shared_task
def write_token_mails() -> int:
    """Write to members about tokens that end soon, or that leaked."""
    return send_due_token_mails()


@shared_task
def write_application_mails() -> int:
    """Write to staff about applications that came in, and to developers about decisions and lost proofs."""
    return application_mail.send_due_mails()


@shared_task
def recheck_domains() -> int:
    """Look again for the proofs of apps' domains, each once a day."""
    return domain_proof.recheck_domains()


@shared_task
def forget_unused_logos() -> int:
    """Delete pictures that no app and no application shows."""
    return logos.forget_unused_logos()


@shared_task
def write_to_members() -> int:
    """Write to the members of apps that staff suspended or restored."""
    return suspension_mail.write_to_members()


@shared_task
def forget_logged_requests() -> int:
    """Delete what the request log has kept long enough."""
    return forget_old_requests()


@shared_task
def write_team_mails() -> int:
    """Write to those who are invited to an app."""
    return team_mail.send_due_mails()
