"""What the worker does for this room on a timer."""

from celery import shared_task

from developers.tokens.mails import send_due_token_mails


@shared_task
def write_token_mails() -> int:
    """Write to members about tokens that end soon, or that leaked."""
    return send_due_token_mails()
