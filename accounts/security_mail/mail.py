"""The mail that tells somebody that their ways in changed. The changes are the queue, and go with their mail."""

import logging
import smtplib
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, Q
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext

from accounts.language import language_for
from accounts.models import OF_DEVELOPERS, SecurityChange, User, WayChange
from accounts.security_mail.wording import in_words
from common import mail

_log = logging.getLogger(__name__)
_SETTLES = timedelta(seconds=20)  # what one press changes comes in several requests, and is one mail
_AT_THE_LATEST = timedelta(minutes=2)
_GIVEN_UP_AFTER = timedelta(days=7)


def is_due() -> bool:
    """Whether there is anything that somebody was not told, be it settled or not."""
    return SecurityChange.objects.exists()


def write_security_mails(*, limit: int = 100) -> int:
    """Write about what nobody was told yet, one mail a person; returns how many.

    Where the mail server takes nothing, or not now for this address, it waits, for a week at most.
    """
    now = timezone.now()
    SecurityChange.objects.filter(at__lte=now - _GIVEN_UP_AFTER).delete()
    waiting = SecurityChange.objects.values("user", "address").annotate(oldest=Min("at"), newest=Max("at"))
    due = waiting.filter(Q(newest__lte=now - _SETTLES) | Q(oldest__lte=now - _AT_THE_LATEST)).order_by("oldest")
    written = 0
    for user_pk, address in list(due.values_list("user", "address")[:limit]):
        try:
            written += _write(user_pk, address)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError):
            _log.warning("One mail was not taken; it is tried again", exc_info=True)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


@transaction.atomic
def _write(user_pk: int, address: str) -> bool:
    """The rows first: a mail that fails brings them back."""
    held = SecurityChange.objects.select_for_update(skip_locked=True).filter(user=user_pk, address=address)
    changes = list(held.order_by("pk"))
    if not changes:
        return False
    SecurityChange.objects.filter(pk__in=[change.pk for change in changes]).delete()
    with translation.override(language_for(User.objects.get(pk=user_pk))):
        lines = in_words(changes)
        of_apps = any(change.kind in OF_DEVELOPERS for change in changes)
        subject = gettext("Your ways to sign in and to unlock were changed")
        if of_apps:
            subject = gettext("Something that gives access to your apps or your account was changed")
        if len(lines) == 1:
            subject = lines[0].words
        told = {
            "lines": lines,
            "of_apps": of_apps,
            "can_be_put_back": any(change.kind == WayChange.WRAPPER_REMOVED for change in changes),
            "site": settings.BASE_URL,
        }
        body = render_to_string("account_security/mail/changed.txt", told)
    try:
        mail.send(subject, body, address)
    except smtplib.SMTPRecipientsRefused as refused:
        if any(code < 500 for code, _ in refused.recipients.values()):
            raise
        _log.warning("An address is refused for good; its person is not told of changes of their ways in")
        return False
    return True
