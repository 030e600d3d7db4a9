"""Mail about an account that is to go, with a secret that takes it back, and when it is gone.

The erasures are the queue. Where the last mail goes is kept sealed, since nothing else of the person is left by then.
"""

import json
import logging
import secrets
import smtplib
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import translation

from accounts.erasure.actions import digest_of
from accounts.erasure.queries import open_erasures
from accounts.identifiers import is_sandbox_address
from accounts.language import language_for
from accounts.models import AskedBy, Erasure
from common import mail
from common.clock import database_now
from common.encryption import Unreadable, opened, sealed

_log = logging.getLogger(__name__)
_GIVEN_UP_AFTER = timedelta(days=7)  # without a mail server; then the address is forgotten all the same


def is_due() -> bool:
    """Whether anybody is to be written to."""
    return _untold().exists() or _unwritten_farewells().exists()


def write_erasure_mails(*, limit: int = 100) -> int:
    """Write about what nobody was told yet; returns how many. Where the mail server takes nothing, it waits."""
    written = 0
    for erasure_pk in list(_untold().order_by("pk").values_list("pk", flat=True)[:limit]):
        try:
            written += _write(erasure_pk)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


def _untold() -> QuerySet[Erasure]:
    return open_erasures().filter(mailed_at=None, asked_by=AskedBy.PERSON)


def _unwritten_farewells() -> QuerySet[Erasure]:
    return Erasure.objects.filter(done_at__isnull=False).exclude(farewell="")


@transaction.atomic
def _write(erasure_pk: int) -> bool:
    """The row first: a mail that fails takes it back."""
    held = open_erasures().select_for_update(skip_locked=True, of=("self",)).select_related("user")
    erasure = held.filter(pk=erasure_pk, mailed_at=None).first()
    if erasure is None:
        return False
    secret = secrets.token_urlsafe(32)
    open_erasures().filter(pk=erasure_pk).update(mailed_at=database_now(), undo_digest=digest_of(secret))
    # behind the #, where neither this server nor what stands before it gets to log it
    address = f"{settings.BASE_URL}/account/delete/undo/#{secret}"
    with translation.override(language_for(erasure.user)):
        subject = render_to_string("account_security/mail/leaving_subject.txt").strip()
        body = render_to_string("account_security/mail/leaving.txt", {"erasure": erasure, "address": address})
    try:
        mail.send(subject, body, erasure.user.email)
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
        _log.warning("A person's address is refused; they are not told about erasure #%s", erasure_pk)
    return True


def keep_farewell(erasure: Erasure) -> None:
    """Before the account's rows go: where and in which language to tell that it is done."""
    user = erasure.user
    if user.erased_at is None and not is_sandbox_address(user.email):
        where = sealed(json.dumps({"address": user.email, "language": language_for(user)}))
        Erasure.objects.filter(pk=erasure.pk).update(farewell=where)


def write_farewells(*, limit: int = 100) -> int:
    """Tell people that their account is gone, and forget where they were told; returns how many."""
    done = _unwritten_farewells()
    done.filter(done_at__lte=database_now() - _GIVEN_UP_AFTER).update(farewell="")
    written = 0
    for erasure_pk in list(done.order_by("done_at", "pk").values_list("pk", flat=True)[:limit]):
        try:
            written += _write_farewell(erasure_pk)
        except OSError:  # smtplib's exceptions are of this kind too
            _log.exception("The mail server takes nothing; what is left waits for the next run")
            break
    return written


@transaction.atomic
def _write_farewell(erasure_pk: int) -> bool:
    """As `_write`."""
    held = Erasure.objects.select_for_update(skip_locked=True).filter(pk=erasure_pk).exclude(farewell="")
    erasure = held.first()
    if erasure is None:
        return False
    try:
        where = json.loads(opened(erasure.farewell))
    except Unreadable:
        _log.error("No key opens where to tell that erasure #%s is done; it waits for its key", erasure_pk)
        return False
    Erasure.objects.filter(pk=erasure_pk).update(farewell="")
    with translation.override(where["language"]):
        subject = render_to_string("account_security/mail/erased_subject.txt").strip()
        body = render_to_string("account_security/mail/erased.txt", {"done_at": erasure.done_at})
    try:
        mail.send(subject, body, where["address"])
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
        _log.warning("An address is refused; its person is not told that erasure #%s is done", erasure_pk)
    return True
