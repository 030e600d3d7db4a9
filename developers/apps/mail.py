"""One mail to somebody who manages apps, or decides about them, in their language."""

import logging
import smtplib
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

from accounts.language import language_for
from common import mail

if TYPE_CHECKING:
    from accounts.models import User

_log = logging.getLogger(__name__)


def send(*, to: "User", about: str, context: dict[str, Any]) -> None:
    """Write `developers/mail/<about>.txt` to them. Where their address is refused for good, nobody tries again.

    Raises what smtplib raises where it may be taken later.
    """
    with translation.override(language_for(to)):
        written = {**context, "issuer": settings.ISSUER}
        subject = render_to_string(f"developers/mail/{about}_subject.txt", written).strip()
        body = render_to_string(f"developers/mail/{about}.txt", written)
    try:
        mail.send(subject, body, to.email)
    except smtplib.SMTPRecipientsRefused as refused:
        if any(code < 500 for code, _ in refused.recipients.values()):
            raise
        _log.warning("An address is refused for good; a mail of the kind %s is given up", about)
