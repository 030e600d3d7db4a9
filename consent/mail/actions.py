"""Mail to people: what was asked of them, and ends that come near. Each is written about once, without a click needed.

A person is written to about requests at most once in MAIL_PAUSE_SECONDS, whoever asks: the first is written about at
once, and what comes meanwhile waits until the time is over and then goes into one mail together. Ends likewise.
"""

import logging
import smtplib
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, QuerySet
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from accounts.language import language_for
from common import mail
from common.batches import until_done
from common.clock import database_now
from common.shutdown import shutdown
from common.sql.statements import lock_for_transaction
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.mail.models import Mail, MailKind
from consent.requests.models import ConsentRequest
from developers.models import AppStatus
from pkm.registry import labels

_log = logging.getLogger(__name__)
_NEAR = timedelta(days=2)
_FRESH = timedelta(hours=24)
_MOST_LINES = 20  # of a mail about several
_BATCH = 100  # people, and mails over one connection
_AT_ONCE = 20.0  # seconds of one run


def is_due() -> bool:
    """Whether there is anything that a mail may be due about."""
    now = database_now()
    return any(_candidates(kind, now).exists() for kind in MailKind)


def send_due_mails(*, most_seconds: float = _AT_ONCE) -> int:
    """Write what is due until nobody is left, or for so many seconds of each kind; returns how many mails went out.

    A mail that cannot be handed over is tried again at the next run.
    """
    written = 0
    for kind in MailKind:
        run = _Run(kind, time.monotonic() + most_seconds)
        written += until_done(run.batch, most_seconds=most_seconds)
        if run.is_away:
            break
    return written


class _Run:
    """One run of a kind through the people who are due, whoever has waited longest first. Each is tried once."""

    def __init__(self, kind: MailKind, ends_at: float) -> None:
        self.kind, self.ends_at = kind, ends_at
        self.after = 0  # the oldest request of the newest person who was tried
        self.is_away = False  # the mail server takes nothing

    def batch(self) -> int | None:
        """How many mails went out, over one connection; None where nobody is left."""
        people = [] if self.is_away else _people_to_write_to(self.kind, self.after)
        if not people:
            return None
        self.after = people[-1][1]
        written = 0
        try:
            with get_connection() as mailbox:
                for user_pk, _ in people:
                    if shutdown.has_begun() or time.monotonic() > self.ends_at:
                        break  # what is due waits for the next run
                    written += self._try(user_pk, mailbox)
        except OSError:  # smtplib's exceptions are of this kind too: nobody's mail goes out now
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            self.is_away = True
        return written

    def _try(self, user_pk: int, mailbox: BaseEmailBackend) -> bool:
        try:
            return _write_to(user_pk, self.kind, mailbox)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError):
            _log.warning("One mail was not taken; it is tried again", exc_info=True)
            return False


def _waiting(now: datetime) -> QuerySet[ConsentRequest]:
    """What people could decide."""
    return ConsentRequest.objects.pending(now).filter(app__status=AppStatus.ACTIVE)


def _fresh(now: datetime) -> QuerySet[ConsentRequest]:
    """The requests that a mail may be due about, found by `consent_request_to_mail`."""
    return ConsentRequest.objects.pending(now).filter(created_at__gt=now - _FRESH, mail_waits=True)


def _near_their_end(now: datetime) -> QuerySet[Grant]:
    """The grants that a mail may be due about, found by `consent_grant_to_remind`."""
    near = Grant.objects.live(now).filter(expires_at__lte=now + _NEAR, reminder_waits=True)
    return near.filter(starts_at__lte=F("expires_at") - FORGOTTEN_AFTER)


def _candidates(kind: MailKind, now: datetime) -> QuerySet[Any]:
    return _fresh(now) if kind == MailKind.REQUEST else _near_their_end(now)


def _due(kind: MailKind, now: datetime) -> QuerySet[ConsentRequest]:
    """What nobody was written to about; a sandbox person has nobody who reads mail."""
    if kind == MailKind.REQUEST:
        found = _fresh(now).filter(app__status=AppStatus.ACTIVE)
    else:
        found = ConsentRequest.objects.filter(grant__in=_near_their_end(now))
    return found.filter(user__sandbox_person=None).exclude(mails__kind=kind)


def _lately(kind: MailKind, now: datetime) -> QuerySet[Mail]:
    """The mails of this kind after which a person is left alone for now."""
    return Mail.objects.filter(kind=kind, sent_at__gt=now - timedelta(seconds=settings.MAIL_PAUSE_SECONDS))


def _people_to_write_to(kind: MailKind, after: int) -> list[tuple[int, int]]:
    """The keys of some people and of the oldest request of each, in the order of those, behind `after`."""
    now = database_now()
    if not _candidates(kind, now).exists():
        return []  # as mostly; the whole question takes the planner alone longer than this look
    left_alone = Exists(_lately(kind, now).filter(request__user=OuterRef("user")))
    people = _due(kind, now).filter(~left_alone).order_by().values("user").annotate(first=Min("pk"))
    return list(people.filter(first__gt=after).order_by("first").values_list("user", "first")[:_BATCH])


def _write_to(user_pk: int, kind: MailKind, mailbox: BaseEmailBackend) -> bool:
    """One mail about everything of this kind that is due; whether it went out.

    The rows first, the mail inside their transaction: a mail that fails takes the rows back, none goes out twice. One
    worker at a time writes to a person, and looks again at what is due once it is its turn. Where the mail server says
    that there is no such address (5xx), the rows stay and nothing is tried again.
    """
    with transaction.atomic():
        lock_for_transaction(f"mail:{kind.value}:{user_pk}")
        now = database_now()
        if _lately(kind, now).filter(request__user=user_pk).exists():
            return False
        due = list(
            _due(kind, now)
            .filter(user=user_pk)
            .select_related("app__application", "user", "scope_entry", "grant")
            .order_by("pk")
        )
        if not due:
            return False
        _note(due, kind, now)
        person = due[0].user
        with translation.override(language_for(person)):
            subject, body = _about_one(due[0], kind) if len(due) == 1 else _about_several(due, kind, now)
        try:
            mail.send(subject, body, person.email, connection=mailbox)
        except smtplib.SMTPRecipientsRefused as refused:
            if any(code < 500 for code, _ in refused.recipients.values()):
                raise
            _log.warning("An address is refused for good; its mail about %s is given up", due[0].request_id)
            return False
    return True


def _note(due: Sequence[ConsentRequest], kind: MailKind, now: datetime) -> None:
    """That this person was written to about these."""
    Mail.objects.bulk_create(Mail(request=request, kind=kind, sent_at=now) for request in due)
    if kind == MailKind.REQUEST:
        ConsentRequest.objects.filter(pk__in=[request.pk for request in due]).update(mail_waits=False)
    else:
        Grant.objects.filter(request__in=due).update(reminder_waits=False)


def _about_one(request: ConsentRequest, kind: MailKind) -> tuple[str, str]:
    """Subject and text, in the language that is on."""
    context = {
        "request": request,
        "label": labels.translated(request.scope_entry.scope_label),
        "until": _until(request),
        "issuer": settings.ISSUER,
    }
    return _rendered(kind.value, context)


def _about_several(due: Sequence[ConsentRequest], kind: MailKind, now: datetime) -> tuple[str, str]:
    """The same of one mail about all of `due`, which are one person's."""
    lines = _by_app(due) if kind == MailKind.REQUEST else _by_end(due)
    context: dict[str, Any] = {
        "lines": lines[:_MOST_LINES],
        "more": len(lines) - _MOST_LINES,
        "issuer": settings.ISSUER,
    }
    if kind == MailKind.REQUEST:
        waiting = list(_waiting(now).filter(user=due[0].user).values_list("app", flat=True))
        apps = len(set(waiting))
        context["requests"] = _requests(len(waiting))
        context["apps"] = ngettext("%(count)d app", "%(count)d apps", apps) % {"count": apps}
    return _rendered(f"{kind.value}s", context)


def _by_app(due: Sequence[ConsentRequest]) -> list[str]:
    by_app: dict[tuple[str, str], int] = {}
    for request in due:
        named = (request.app_name, request.app.legal_name)
        by_app[named] = by_app.get(named, 0) + 1
    return [f"{name} ({legal}): {_requests(count)}" for (name, legal), count in by_app.items()]


def _by_end(due: Sequence[ConsentRequest]) -> list[str]:
    line = gettext("%(name)s (%(legal)s), %(label)s: until %(until)s UTC")
    return [
        line
        % {
            "name": request.app_name,
            "legal": request.app.legal_name,
            "label": labels.translated(request.scope_entry.scope_label),
            "until": _until(request),
        }
        for request in due
    ]


def _requests(count: int) -> str:
    return ngettext("%(count)d request", "%(count)d requests", count) % {"count": count}


def _until(request: ConsentRequest) -> str:
    grant: Grant | None = getattr(request, "grant", None)
    return date_format(grant.expires_at if grant else request.expires_at, gettext("j F Y, H:i"))


def _rendered(name: str, context: dict[str, Any]) -> tuple[str, str]:
    subject = render_to_string(f"consent/mail/{name}_subject.txt", context).strip()
    return subject, render_to_string(f"consent/mail/{name}.txt", context)
