"""A person asks to be erased, takes that back, and is erased when the time has come."""

import logging
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.erasure.queries import obstacles, open_erasures
from accounts.hooks import room_erasures
from accounts.models import Erasure, ErasureRequester, Session, User
from accounts.outbox import TRIED_FOR, drop_mails, send_mail
from common.clock import database_now
from common.identifiers import secret_digest
from common.shutdown import shutdown
from common.sql.dialect import timestamp
from common.text import StrOrPromise

_AT_ONCE = 20  # of one run
_log = logging.getLogger(__name__)


class ErasureBlocked(Exception):
    """Something has to be settled first; `words` says what."""

    def __init__(self, words: list[StrOrPromise]) -> None:
        super().__init__("; ".join(map(str, words)))
        self.words = words


@transaction.atomic
def request_erasure(*, by: User) -> Erasure:
    """The account goes after ERASURE_WAIT_DAYS, and a mail keeps it. Asked again, it stays as it was.

    Raises `ErasureBlocked`.
    """
    erasure, is_new = _open_erasure(by, ErasureRequester.PERSON, timedelta(days=settings.ERASURE_WAIT_DAYS))
    if is_new:
        secret = secrets.token_urlsafe(32)
        Erasure.objects.filter(pk=erasure.pk).update(undo_digest=secret_digest(secret))
        # behind the #, where neither this server nor what stands before it gets to log it
        address = f"{settings.BASE_URL}/account/delete/undo/#{secret}"
        context = {"erasure": erasure, "address": address}
        send_mail(
            "account_security/mail/leaving",
            to=by,
            context=context,
            key=f"erasure:{erasure.pk}",
            tried_for=max(TRIED_FOR, erasure.due_at - erasure.asked_at),
        )
    return erasure


@transaction.atomic
def order_erasure(*, of: User) -> Erasure:
    """An operator erases somebody who asked them to: due at once. Raises `ErasureBlocked`."""
    User.objects.select_for_update(no_key=True).get(pk=of.pk)
    now = database_now()
    open_erasures().filter(user=of).update(cancelled_at=now)
    return _open_erasure(of, ErasureRequester.OPERATOR, timedelta(0))[0]


def _open_erasure(user: User, requester: ErasureRequester, wait: timedelta) -> tuple[Erasure, bool]:
    """The erasure that waits, and whether it is a new one."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if words := obstacles(user):
        raise ErasureBlocked(words)
    found = open_erasures().filter(user=user).first()
    if found is not None:
        return found, False
    now = database_now()
    made = Erasure.objects.create(user=user, asked_by=requester, asked_at=now, due_at=now + wait)
    User.objects.filter(pk=user.pk).update(leaves_at=made.due_at)
    return made, True


@transaction.atomic
def take_back(*, by: User) -> bool:
    """The account stays after all; False where it was not to go, or its time has come."""
    return _take_back(open_erasures().filter(user=by).values_list("pk", flat=True).first())


@transaction.atomic
def take_back_by_mail(*, secret: str) -> bool:
    """The same by the secret of the mail's link, which is enough to keep an account and for nothing else."""
    return _take_back(open_erasures().filter(undo_digest=secret_digest(secret)).values_list("pk", flat=True).first())


def _take_back(erasure_pk: int | None) -> bool:
    if erasure_pk is None:
        return False
    now = database_now()
    waiting = open_erasures().filter(pk=erasure_pk, due_at__gt=now)
    if not waiting.update(cancelled_at=now, undo_digest=""):
        return False
    drop_mails(f"erasure:{erasure_pk}")
    User.objects.filter(erasures=erasure_pk).update(leaves_at=None)
    return True


def erase_due() -> int:
    """Erase every account whose time has come; returns how many. What was cut off goes on where it was."""
    done = 0
    due = open_erasures().filter(due_at__lte=database_now()).order_by("due_at", "pk")
    for erasure_pk in list(due.values_list("pk", flat=True)[:_AT_ONCE]):
        if shutdown.has_begun():
            break
        try:
            done += erase(erasure_pk=erasure_pk)
        except Exception:  # one that fails holds up no other, and is tried again
            _log.exception("erasure %d failed and is tried again", erasure_pk)
    return done


def erase(*, erasure_pk: int) -> bool:
    """Carry out one erasure, step by step, a transaction each; False where it is not due or over. Safe to repeat."""
    user = _close(erasure_pk)
    if user is None:
        return False
    for room in room_erasures():
        room.ends(user)
    for room in room_erasures():
        with transaction.atomic():
            erasure = _lock_due_erasure(erasure_pk, database_now())
            if erasure is None:
                return False  # another worker was faster
            room.before_rows(erasure)
            room.rows.erase(erasure_pk=erasure_pk, now=timestamp(database_now()))
    with transaction.atomic():
        done = _lock_due_erasure(erasure_pk, database_now()) is not None
        open_erasures().filter(pk=erasure_pk).update(done_at=database_now())
    if done:
        _log.warning("%s was erased", user.public_id)
    return done


@transaction.atomic
def _close(erasure_pk: int) -> User | None:
    """From here on nobody signs in, nobody is asked, and nothing is added while the rest goes."""
    erasure = _lock_due_erasure(erasure_pk, database_now())
    if erasure is None:
        return None
    User.objects.filter(pk=erasure.user_id).update(is_active=False)
    Session.objects.filter(user=erasure.user_id).delete()
    return User.objects.get(pk=erasure.user_id)


def _lock_due_erasure(erasure_pk: int, now: datetime) -> Erasure | None:
    due = open_erasures().filter(pk=erasure_pk, due_at__lte=now)
    return due.select_for_update(of=("self",)).select_related("user").first()
