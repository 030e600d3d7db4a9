"""Mail to people: a new request, and an end that comes near. Each is written once, in words that need no click."""

import logging
import smtplib
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from accounts.database import database_now
from accounts.language import language_for
from common.shutdown import shutdown
from consent.models import ConsentRequest, Grant, Mail, MailKind
from consent.states import LIVE_GRANTS, RequestStatus
from developers.models import AppStatus
from pkm import labels

_log = logging.getLogger(__name__)
_NEAR = timedelta(days=2)
_LONG = timedelta(days=7)  # only an approval that was long enough to be forgotten is worth a reminder
_FRESH = timedelta(hours=24)


def send_due_mails(*, limit: int = 100) -> int:
    """Write what is due; returns how many. A mail that cannot be handed over is tried again at the next run."""
    now = database_now()
    pending = ConsentRequest.objects.filter(
        status=RequestStatus.PENDING, expires_at__gt=now, created_at__gt=now - _FRESH, app__status=AppStatus.ACTIVE
    ).exclude(mails__kind=MailKind.REQUEST)
    ending = ConsentRequest.objects.filter(
        grant__status__in=LIVE_GRANTS,
        grant__expires_at__gt=now,
        grant__expires_at__lte=now + _NEAR,
        grant__starts_at__lte=F("grant__expires_at") - _LONG,
    ).exclude(mails__kind=MailKind.ENDING)
    written = 0
    for kind, due in ((MailKind.REQUEST, pending), (MailKind.ENDING, ending)):
        for request_pk in list(due.order_by("pk").values_list("pk", flat=True)[:limit]):
            if shutdown.has_begun():
                return written  # the rows wait for the next process
            try:
                written += _send(request_pk, kind)
            except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError):
                _log.warning("One mail was not taken; it is tried again", exc_info=True)
            except OSError:  # smtplib's exceptions are of this kind too: nobody's mail goes out now
                _log.exception("The mail server takes nothing; what is left waits for the next run")
                return written
    return written


def _send(request_pk: int, kind: MailKind) -> bool:
    """The row first, the mail inside its transaction: a mail that fails takes the row back, none goes out twice.

    Where the mail server says that there is no such address (5xx), the row stays and nothing is tried again.
    """
    with transaction.atomic():
        request = ConsentRequest.objects.select_related("app__application", "user", "scope_entry").get(pk=request_pk)
        _, created = Mail.objects.get_or_create(request=request, kind=kind, defaults={"sent_at": database_now()})
        if not created:
            return False
        with translation.override(language_for(request.user)):
            context = _context(request)
            subject = render_to_string(f"consent/mail/{kind.value}_subject.txt", context).strip()
            body = render_to_string(f"consent/mail/{kind.value}.txt", context)
        try:
            send_mail(subject, body, settings.DEFAULT_FROM_EMAIL, [request.user.email])
        except smtplib.SMTPRecipientsRefused as refused:
            if any(code < 500 for code, _ in refused.recipients.values()):
                raise
            _log.warning("An address is refused for good; its mail about %s is given up", request.request_id)
            return False
    return True


def _context(request: ConsentRequest) -> dict[str, Any]:
    """What the mails say, in the language that is on."""
    grant: Grant | None = getattr(request, "grant", None)
    return {
        "request": request,
        "application": request.app.application,
        "label": labels.translated(request.scope_entry.scope_label),
        "until": date_format(grant.expires_at if grant else request.expires_at, gettext("j F Y, H:i")),
        "issuer": settings.ISSUER,
    }
