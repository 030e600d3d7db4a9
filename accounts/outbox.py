"""Mail that the service writes: an action leaves a sealed row in its transaction, one task of the worker sends it.

A mail is its template: `<template>_subject.txt` and `<template>.txt`. Where several events go into one mail, or the
time alone makes it due, a room registers a `Gathering`. What was sent is forgotten.
"""

import json
import logging
import smtplib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.identifiers import is_sandbox_address
from accounts.language import language_for
from accounts.models import OutgoingMail, User
from accounts.phrase import with_phrase
from accounts.zones import zone_of
from common import mail, metrics
from common.broker import enqueue
from common.clock import database_now
from common.encryption import DecryptionFailed, opened, sealed
from common.shutdown import shutdown

_TASK = "accounts.tasks.send_mails"
_BATCH = 100
_MOST_SECONDS = 20.0  # of one run
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=2), timedelta(hours=1)  # the first outlasts one talk with the server
_AWAY_PAUSE = timedelta(seconds=30)  # of a mail that found the server away, which is no try
TRIED_FOR = timedelta(days=7)
_SHUTS_DOWN = 421  # closes the connection, whichever command it answers (RFC 5321, 3.8)
_OF_ONE_MAIL = (
    smtplib.SMTPSenderRefused, smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, smtplib.SMTPNotSupportedError,
)  # fmt: skip
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Gathering:
    """Mails that are made when the worker can send them.

    `due` names some of what is to be written about, and answers nothing as cheaply as it can. `queue` marks one of
    these as written about and calls `send_mail`, in one transaction, unless another worker was faster. `give_up` is
    called with every mail that will not be sent, whoever wrote it, in the transaction that deletes it.
    """

    due: Callable[[], Sequence[Any]]
    queue: Callable[[Any], None]
    give_up: Callable[[OutgoingMail], None] = lambda _: None


_gatherings: dict[str, Gathering] = {}


def register_gathering(name: str, gathering: Gathering) -> None:
    _gatherings[name] = gathering


@transaction.atomic
def send_mail(
    template: str,
    *,
    to: User,
    context: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
    address: str = "",
    key: str = "",
    tried_for: timedelta = TRIED_FOR,
    outlives_account: bool = False,
    wake: bool = True,
) -> None:
    """Leave a mail to `to` for the worker, in their language and zone; nothing where their address leads nowhere.

    `context` may be a function, which is called while these are on. `address` is where it goes, if not to
    theirs. A mail with a `key` takes the place of one with that key that was not sent yet. A mail goes with the account
    of `to`, unless it `outlives_account`. A gathering need not `wake` the worker that it runs in.
    """
    address = address or to.email
    if is_sandbox_address(address):
        return
    with translation.override(language_for(to)), timezone.override(zone_of(to)):
        known = {"issuer": settings.ISSUER, **(context() if callable(context) else context)}
        subject = " ".join(render_to_string(f"{template}_subject.txt", known).split())
        body = with_phrase(to, address, render_to_string(f"{template}.txt", known))
    if key:
        drop_mails(key)
    now = database_now()
    OutgoingMail.objects.create(
        template=template,
        user=None if outlives_account else to,
        key=key,
        sealed=sealed(json.dumps({"subject": subject, "body": body, "to": address})),
        due_at=now,
        until=now + tried_for,
    )
    if wake:
        transaction.on_commit(partial(enqueue, _TASK))


def send_mail_or_log(template: str, **given: Any) -> None:
    """`send_mail` for what must be done even where its mail cannot be written."""
    try:
        send_mail(template, **given)
    except Exception:
        _log.exception("A mail of the kind %s could not be written; what it tells of is done", template)


def drop_mails(*keys: str) -> None:
    """Nobody is to be written to about these any more."""
    OutgoingMail.objects.filter(key__in=keys).delete()


def is_due() -> bool:
    """Whether the worker has anything to send."""
    return _due_mails().exists() or any(gathering.due() for gathering in _gatherings.values())


def send_due_mails() -> int:
    """Send what is due, for so long; returns how many mails went out. Each is tried once in a run.

    Nothing is gathered while the mail server is away, so that one mail says it all afterwards.
    """
    for late in OutgoingMail.objects.filter(until__lte=database_now()):
        _log.error("A mail of the kind %s could not be sent in its time and is given up", late.template)
        _give_up(late)
    run = _Run(time.monotonic() + _MOST_SECONDS)
    try:
        while run.batch():
            pass
    except OSError as error:  # smtplib's exceptions are of this kind too
        metrics.MAILS.labels("away").inc()
        _log.error("The mail server takes nothing (%s); what is left waits for a later run", _reason(error))
    finally:
        run.mailbox.close()
    return run.sent


def _due_mails() -> QuerySet[OutgoingMail]:
    return OutgoingMail.objects.filter(due_at__lte=database_now()).order_by("due_at", "pk")


class _Run:
    def __init__(self, ends_at: float) -> None:
        self.ends_at, self.sent = ends_at, 0
        self.mailbox: BaseEmailBackend = get_connection()

    def batch(self) -> bool:
        """Send some; False where there is nothing left, or no time. Raises `OSError`: the server is away.

        What waits goes first, so that a mail about somebody's account is not behind all that could be gathered.
        """
        waiting = list(_due_mails()[:_BATCH])
        for row in waiting:
            if self._is_over():
                return False
            self.mailbox.open()
            self.sent += _send(row, self.mailbox)
        return len(waiting) == _BATCH or (self._gather() and _due_mails().exists())

    def _gather(self) -> bool:
        """Whether there was anything to write about, and time."""
        found = False
        for name, gathering in _gatherings.items():
            for one in gathering.due():
                if self._is_over():
                    return False
                self.mailbox.open()
                found = True
                try:
                    with transaction.atomic():
                        gathering.queue(one)
                except Exception:  # one that fails keeps no other mail back
                    _log.exception("One of %s could not be written about; it is tried again", name)
        return found

    def _is_over(self) -> bool:
        return shutdown.has_begun() or time.monotonic() > self.ends_at


def _send(row: OutgoingMail, mailbox: BaseEmailBackend) -> bool:
    """Whether it went out. The claim is the next try's time: a worker that dies leaves the mail to that."""
    claimed = OutgoingMail.objects.filter(pk=row.pk, tries=row.tries)
    now = database_now()
    pause = min(_FIRST_PAUSE * 2 ** min(row.tries, 10), _LONGEST_PAUSE)
    if not claimed.update(tries=F("tries") + 1, due_at=now + pause):
        return False  # another worker has it
    mine = OutgoingMail.objects.filter(pk=row.pk, tries=row.tries + 1)
    try:
        mail.send(**json.loads(opened(row.sealed)), connection=mailbox)
    except (DecryptionFailed, ValueError, OSError) as error:  # a ValueError of its address
        metrics.MAILS.labels("failed").inc()
        codes = _codes(error)
        if _SHUTS_DOWN in codes:
            mine.update(tries=row.tries, due_at=now + _AWAY_PAUSE)
            raise
        if isinstance(error, smtplib.SMTPRecipientsRefused) and all(code >= 500 for code in codes):
            _log.warning("An address is refused for good; a mail of the kind %s is given up", row.template)
            _give_up(row)
            return False
        _log.warning("A mail of the kind %s was not taken (%s); it is tried again", row.template, _reason(error))
        if isinstance(error, OSError) and not isinstance(error, _OF_ONE_MAIL):
            raise  # the connection broke, maybe at this very mail, for which it counts as a try
        return False
    mine.delete()
    metrics.MAILS.labels("sent").inc()
    return True


def _give_up(row: OutgoingMail) -> None:
    with transaction.atomic():
        if OutgoingMail.objects.filter(pk=row.pk).delete()[0]:
            for gathering in _gatherings.values():
                gathering.give_up(row)


def _codes(error: Exception) -> list[int]:
    """What the mail server answered."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return [code for code, _ in error.recipients.values()]
    return [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []


def _reason(error: Exception) -> str:
    """For the log, which gets no text of an exception: addresses are in it."""
    return " ".join([type(error).__name__, *map(str, _codes(error))])
