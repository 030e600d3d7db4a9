"""Mails of this service: none is an answer to another, and each says so."""

from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

# RFC 3834, 5: who is away does not answer by machine, and no loop begins
HEADERS = {"Auto-Submitted": "auto-generated"}


def send(subject: str, body: str, to: str, *, connection: Any = None) -> bool:
    """Write to this one address; raises what the mail server's library raises."""
    message = EmailMultiAlternatives(
        subject, body, settings.DEFAULT_FROM_EMAIL, [to], connection=connection, headers=HEADERS
    )
    return bool(message.send())
