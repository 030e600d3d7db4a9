"""The worker that sends mail, at once."""

from datetime import timedelta

from accounts.models import OutgoingMail
from accounts.outbox import send_due_mails
from common.clock import database_now


def send_mails() -> int:
    """How many mails go out in the next run, for which nothing has to wait: what was not taken is tried again."""
    OutgoingMail.objects.update(due_at=database_now() - timedelta(seconds=1))
    return send_due_mails()
