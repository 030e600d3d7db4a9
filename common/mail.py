"""Mails of this service: none is an answer to another, and each says so. One mailbox, however it is spelled."""

from typing import Any

import idna
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


def mailbox(email: str) -> str:
    """The address in lower case, its domain as DNS has it (IDNA 2008): `bücher.example` is `xn--bcher-kva.example`.

    Browsers send it so from a field for addresses; programs and lists of addresses may not.
    """
    local, at, domain = email.strip().lower().rpartition("@")
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode()
        except idna.IDNAError:  # the form says that this is no address
            return f"{local}{at}{domain}"
    return f"{local}{at}{domain}"
