"""Mail about an account that is to go. The erasures are the queue; each mail has a secret that takes it back."""

import logging
import secrets
import smtplib

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from accounts.erasure.actions import digest_of
from accounts.erasure.queries import open_erasures
from accounts.language import language_for
from accounts.models import AskedBy
from common.clock import database_now

_log = logging.getLogger(__name__)


def write_erasure_mails(*, limit: int = 100) -> int:
    """Write about what nobody was told yet; returns how many. Where the mail server takes nothing, it waits."""
    waiting = open_erasures().filter(mailed_at=None, asked_by=AskedBy.PERSON).order_by("pk")
    written = 0
    for erasure_pk in list(waiting.values_list("pk", flat=True)[:limit]):
        try:
            written += _write(erasure_pk)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


@transaction.atomic
def _write(erasure_pk: int) -> bool:
    """The row first: a mail that fails takes it back."""
    held = open_erasures().select_for_update(skip_locked=True, of=("self",)).select_related("user")
    erasure = held.filter(pk=erasure_pk, mailed_at=None).first()
    if erasure is None:
        return False
    secret = secrets.token_urlsafe(32)
    open_erasures().filter(pk=erasure_pk).update(mailed_at=database_now(), undo_digest=digest_of(secret))
    address = f"{settings.BASE_URL}/account/delete/undo/{secret}/"
    with translation.override(language_for(erasure.user)):
        subject = render_to_string("account_security/mail/leaving_subject.txt").strip()
        body = render_to_string("account_security/mail/leaving.txt", {"erasure": erasure, "address": address})
    try:
        send_mail(subject, body, settings.DEFAULT_FROM_EMAIL, [erasure.user.email])
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
        _log.warning("A person's address is refused; they are not told about erasure #%s", erasure_pk)
    return True
