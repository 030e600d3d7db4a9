"""Mail about tokens: that one ends soon, and that one was found by somebody and revoked."""

import logging
import smtplib
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from accounts.language import language_for
from common import mail
from common.shutdown import shutdown
from developers.apps.models import AppStatus
from developers.tokens.models import DeveloperToken, ManagementToken

if TYPE_CHECKING:
    from accounts.models import User

_log = logging.getLogger(__name__)
REMINDERS = (2, 14)  # days before the end, the last first: who gets that one needs no other


def is_due() -> bool:
    """Whether anybody is to be written to."""
    due = [_leaked(DeveloperToken), _leaked(ManagementToken), *map(_ending, REMINDERS)]
    return any(tokens.exists() for tokens in due)


def send_due_token_mails(*, limit: int = 100) -> int:
    """Write what is due about so many tokens of each kind; returns how many tokens were written about.

    The claim of a token and its mails are one transaction, and the claim waits for another worker's: each is written
    about once. Where the mail server takes nothing, the claim goes back and the next run tries again.
    """
    due: list[tuple[Callable[[int], bool], list[int]]] = [
        (_tell_of_leak, list(_leaked(DeveloperToken).values_list("pk", flat=True)[:limit])),
        (_tell_of_management_leak, list(_leaked(ManagementToken).values_list("pk", flat=True)[:limit])),
        *((_reminder(days), list(_ending(days).values_list("pk", flat=True)[:limit])) for days in REMINDERS),
    ]
    written = 0
    for tell, pks in due:
        for pk in pks:
            if shutdown.has_begun():
                return written
            try:
                written += tell(pk)
            except OSError:  # smtplib's exceptions are of this kind too
                _log.exception("The mail server takes nothing; what is left waits for the next run")
                return written
    return written


def _ending(days: int) -> QuerySet[DeveloperToken]:
    """Tokens that nobody rotated or revoked and whose end is so near, unless they were made for less."""
    now = timezone.now()
    near = DeveloperToken.objects.filter(
        _unreminded(days),
        revoked_at=None,
        expires_at__gt=now,
        expires_at__lte=now + timedelta(days=days),
        created_at__lt=F("expires_at") - timedelta(days=days),
    )
    return near.exclude(app__status=AppStatus.CLOSED).order_by("expires_at")


def _leaked(model: "type[DeveloperToken] | type[ManagementToken]") -> QuerySet[Any]:
    return model._default_manager.filter(leaked_at__isnull=False, leak_told_at=None).order_by("leaked_at")


def _unreminded(days: int) -> Q:
    return Q(reminded_days=None) | Q(reminded_days__gt=days)


def _reminder(days: int) -> Callable[[int], bool]:
    @transaction.atomic
    def remind(pk: int) -> bool:
        # of the token's own columns alone: PostgreSQL does not ask a subquery again after it waited for another claim
        claim = DeveloperToken.objects.filter(_unreminded(days), pk=pk, revoked_at=None)
        if not claim.update(reminded_days=days):
            return False
        token = DeveloperToken.objects.select_related("app").get(pk=pk)
        _write(_members(token), "token_ends", token)
        return True

    return remind


@transaction.atomic
def _tell_of_leak(pk: int) -> bool:
    if not _leaked(DeveloperToken).filter(pk=pk).order_by().update(leak_told_at=timezone.now()):
        return False
    token = DeveloperToken.objects.select_related("app").get(pk=pk)
    _write(_members(token), "token_leaked", token)
    return True


@transaction.atomic
def _tell_of_management_leak(pk: int) -> bool:
    if not _leaked(ManagementToken).filter(pk=pk).order_by().update(leak_told_at=timezone.now()):
        return False
    token = ManagementToken.objects.select_related("user").get(pk=pk)
    _write([token.user], "management_token_leaked", token)
    return True


def _members(token: DeveloperToken) -> "Iterable[User]":
    people: QuerySet[User] = get_user_model().objects.filter(app_memberships__app=token.app_id, is_active=True)
    return people.order_by("pk")


def _write(people: "Iterable[User]", name: str, token: DeveloperToken | ManagementToken) -> None:
    """One mail to each, in their language. An address that is refused holds up nobody else's mail.

    Raises `OSError` where the mail server is away, unless somebody was told already: nobody is told twice.
    """
    told = 0
    for person in people:
        with translation.override(language_for(person)):
            subject, body = _words(name, token)
        try:
            told += mail.send(subject, body, person.email)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError):
            _log.warning("One mail about the token %s was not taken and is given up", token.prefix, exc_info=True)
        except OSError:
            if not told:
                raise
            _log.exception("The mail server went away; not all members were told of the token %s", token.prefix)
            return


def _words(name: str, token: DeveloperToken | ManagementToken) -> tuple[str, str]:
    """Subject and text, in the language that is on."""
    until = date_format(token.expires_at, gettext("j F Y, H:i"))
    context = {"token": token, "until": until, "issuer": settings.ISSUER}
    subject = render_to_string(f"developers/mail/{name}_subject.txt", context).strip()
    return subject, render_to_string(f"developers/mail/{name}.txt", context)
