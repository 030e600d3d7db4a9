"""What the worker does for this room on a timer."""

from celery import shared_task

from accounts.erasure import actions, mail
from accounts.security_mail import mail as security_mail


@shared_task
def carry_out_erasures() -> int:
    """Erase the accounts whose time has come."""
    return actions.erase_due()


@shared_task
def write_erasure_mails() -> int:
    """Write to people whose account is to go, with the way to take that back, and when it is gone."""
    return mail.write_erasure_mails() + mail.write_farewells()


@shared_task
def write_security_mails() -> int:
    """Tell people that a way into their account or their data changed."""
    return security_mail.write_security_mails()
