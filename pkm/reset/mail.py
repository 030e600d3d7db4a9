"""The mail about a vault that is given up. The resets are the queue."""

import logging
import smtplib

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from accounts.language import language_for
from common import mail
from common.clock import database_now
from pkm.reset.models import VaultReset

_log = logging.getLogger(__name__)


def is_due() -> bool:
    """Whether anybody is to be written to."""
    return VaultReset.objects.filter(mailed_at=None).exists()


def write_reset_mails(*, limit: int = 100) -> int:
    """Write about what nobody was told yet; returns how many. Where the mail server takes nothing, it waits."""
    waiting = VaultReset.objects.filter(mailed_at=None).order_by("pk")
    written = 0
    for reset_pk in list(waiting.values_list("pk", flat=True)[:limit]):
        try:
            written += _write(reset_pk)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


@transaction.atomic
def _write(reset_pk: int) -> bool:
    """The row first: a mail that fails takes it back."""
    held = VaultReset.objects.select_for_update(skip_locked=True, of=("self",)).select_related("vault__user")
    reset = held.filter(pk=reset_pk, mailed_at=None).first()
    if reset is None:
        return False
    reset.mailed_at = database_now()
    reset.save(update_fields=["mailed_at"])
    user = reset.vault.user
    with translation.override(language_for(user)):
        told = {"reset": reset, "address": f"{settings.BASE_URL}/account/security/reset/"}
        subject = render_to_string("account_security/mail/reset_subject.txt").strip()
        body = render_to_string("account_security/mail/reset.txt", told)
    try:
        mail.send(subject, body, user.email)
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
        _log.warning("A person's address is refused; they are not told about reset #%s of a vault", reset_pk)
    return True
