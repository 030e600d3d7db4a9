"""What the worker does for this room on a timer."""

from celery import shared_task

from accounts import outbox
from accounts.alerts import push
from accounts.erasure import actions


@shared_task
def carry_out_erasures() -> int:
    """Erase the accounts whose time has come."""
    return actions.erase_due()


@shared_task
def send_mails() -> int:
    return outbox.send_due_mails()


@shared_task
def send_pushes() -> int:
    return push.send_due_pushes()
