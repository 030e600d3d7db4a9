"""What the worker is told of at once, and looks for by itself (config/schedule.py)."""

from celery import shared_task

from accounts import outbox
from accounts.alerts import push


@shared_task
def send_mails() -> int:
    return outbox.send_due_mails()


@shared_task
def send_pushes() -> int:
    return push.send_due_pushes()
