"""Mail to people: a new request, and an end that comes near. Each is written once, in words that need no click."""

from datetime import timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from accounts.database import database_now
from consent.models import ConsentRequest, Mail, MailKind
from consent.states import LIVE_GRANTS, RequestStatus

_NEAR = timedelta(days=2)
_LONG = timedelta(days=7)  # only an approval that was long enough to be forgotten is worth a reminder
_FRESH = timedelta(hours=24)


def send_due_mails(*, limit: int = 100) -> int:
    """Write what is due; returns how many. A mail that cannot be handed over is tried again at the next run."""
    now = database_now()
    pending = ConsentRequest.objects.filter(
        status=RequestStatus.PENDING, expires_at__gt=now, created_at__gt=now - _FRESH
    ).exclude(mails__kind=MailKind.REQUEST)
    ending = ConsentRequest.objects.filter(
        grant__status__in=LIVE_GRANTS,
        grant__expires_at__gt=now,
        grant__expires_at__lte=now + _NEAR,
        access_duration__gte=_LONG.total_seconds(),
    ).exclude(mails__kind=MailKind.ENDING)
    written = 0
    for kind, due in ((MailKind.REQUEST, pending), (MailKind.ENDING, ending)):
        for request_pk in list(due.order_by("pk").values_list("pk", flat=True)[:limit]):
            written += _send(request_pk, kind)
    return written


def _send(request_pk: int, kind: MailKind) -> bool:
    """The row first, the mail inside its transaction: a mail that fails takes the row back, none goes out twice."""
    with transaction.atomic():
        request = ConsentRequest.objects.select_related("app__application", "user", "scope_entry").get(pk=request_pk)
        _, created = Mail.objects.get_or_create(request=request, kind=kind, defaults={"sent_at": database_now()})
        if not created:
            return False
        context = {
            "request": request,
            "grant": getattr(request, "grant", None),
            "app": request.app,
            "application": request.app.application,
            "scope": request.scope_entry,
            "issuer": settings.ISSUER,
        }
        with translation.override(settings.LANGUAGE_CODE):
            subject = render_to_string(f"consent/mail/{kind.value}_subject.txt", context).strip()
            body = render_to_string(f"consent/mail/{kind.value}.txt", context)
        send_mail(subject, body, settings.DEFAULT_FROM_EMAIL, [request.user.email])
    return True
