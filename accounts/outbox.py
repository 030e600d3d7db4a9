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
from django.utils import translation

from accounts.identifiers import is_sandbox_address
from accounts.language import language_for
from accounts.models import OutgoingMail, User
from common import mail
from common.broker import tell_worker
from common.clock import database_now
from common.encryption import Unreadable, opened, sealed
from common.shutdown import shutdown

_TASK = "accounts.tasks.send_mails"
_BATCH = 100
_MOST_SECONDS = 20.0  # of one run
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=2), timedelta(hours=1)  # the first outlasts one talk with the server
_AWAY_PAUSE = timedelta(seconds=30)  # of a mail that found the server away, which is no try
_WEEK = timedelta(days=7)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Gathering:
    """Mails that are made when the worker can send them.

    `due` names some of what is to be written about, and answers nothing as cheaply as it can. `queue` marks one of
    these as written about and calls `send_mail`, in one transaction, unless another worker was faster.
    """

    due: Callable[[], Sequence[Any]]
    queue: Callable[[Any], None]


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
    tried_for: timedelta = _WEEK,
    outlives_account: bool = False,
    wake: bool = True,
) -> None:
    """Leave a mail to `to`, in their language, for the worker; nothing for somebody whose address leads nowhere.

    `context` may be a function, which is called while that language is on. `address` is where it goes, if not to
    theirs. A mail with a `key` takes the place of one with that key that was not sent yet. A mail goes with the account
    of `to`, unless it `outlives_account`. A gathering need not `wake` the worker that it runs in.
    """
    address = address or to.email
    if is_sandbox_address(address):
        return
    with translation.override(language_for(to)):
        known = {"issuer": settings.ISSUER, **(context() if callable(context) else context)}
        subject = " ".join(render_to_string(f"{template}_subject.txt", known).split())
        body = render_to_string(f"{template}.txt", known)
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
        transaction.on_commit(partial(tell_worker, _TASK))


def drop_mails(*keys: str) -> None:
    """Nobody is to be written to about these any more."""
    OutgoingMail.objects.filter(key__in=keys).delete()


def is_due() -> bool:
    """Whether the worker has anything to send."""
    return _due_mails().exists() or any(gathering.due() for gathering in _gatherings.values())


def send_due_mails(*, most_seconds: float = _MOST_SECONDS) -> int:
    """Send what is due, for so long; returns how many mails went out. Each is tried once in a run.

    Nothing is gathered while the mail server is away, so that one mail says it all afterwards.
    """
    for late in OutgoingMail.objects.filter(until__lte=database_now()):
        _log.error("A mail of the kind %s could not be sent in its time and is given up", late.template)
        late.delete()
    run = _Run(time.monotonic() + most_seconds)
    try:
        while run.batch():
            pass
    except OSError:  # smtplib's exceptions are of this kind too
        _log.exception("The mail server takes nothing; what is left waits for a later run")
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
        """Gather and send some; False where there is nothing left, or no time. Raises `OSError`: the server is away."""
        for name, gathering in _gatherings.items():
            for one in gathering.due():
                if self._is_over():
                    return False
                self.mailbox.open()
                try:
                    with transaction.atomic():
                        gathering.queue(one)
                except Exception:  # one that fails keeps no other mail back
                    _log.exception("One of %s could not be written about; it is tried again", name)
        waiting = list(_due_mails()[:_BATCH])
        for row in waiting:
            if self._is_over():
                return False
            self.mailbox.open()
            self.sent += _send(row, self.mailbox)
        return bool(waiting)

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
    except smtplib.SMTPRecipientsRefused as refused:
        if all(code >= 500 for code, _ in refused.recipients.values()):
            _log.warning("An address is refused for good; a mail of the kind %s is given up", row.template)
            mine.delete()
        else:
            _log.warning("A mail of the kind %s was not taken; it is tried again", row.template, exc_info=True)
        return False
    except (smtplib.SMTPDataError, smtplib.SMTPNotSupportedError, Unreadable, ValueError):  # the last of its address
        _log.warning("A mail of the kind %s was not taken; it is tried again", row.template, exc_info=True)
        return False
    except OSError:
        mine.update(tries=row.tries, due_at=now + _AWAY_PAUSE)
        raise
    mine.delete()
    return True
