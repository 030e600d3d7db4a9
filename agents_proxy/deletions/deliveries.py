"""The worker's side of deletions elsewhere: claim the row, send, record what was answered.

The rows are the queue. Whoever sends holds a lease that is longer than an attempt can take; a worker that dies leaves
one that runs out, and the next sends a request of its own. A receiver is asked for thirty days, with growing pauses;
then nothing of whom it is about is left here.
"""

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from agents_proxy.deletions.actions import KEPT
from agents_proxy.deletions.messages import LIMIT, Message, kept_answer, message, why_unconfirmed
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import ENDS_ACCESS, address_of
from agents_proxy.deletions.sealing import opened
from agents_proxy.processing_consent.events import notify_app
from agents_proxy.states import DeletionStatus
from common import addresses, encryption
from common.batches import delete_all
from common.clock import database_now
from common.outbound.client import Answer, Client, chosen_by_app
from common.outbound.failures import ExchangeFailed, InvalidAnswer
from common.problems import Problem
from developers.app_events import ProcessingEvent

# After each failed attempt, each pause jittered by a fifth either way; the last one again and again.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000, 86400))
ANSWER_SECONDS = 15
MOST_AT_ONCE = 2  # attempts under way to one receiver, or about that many
_LEASE = timedelta(seconds=60)
_ENQUEUE_GRACE = timedelta(seconds=2)  # for so long the worker that was told of a row may have it
_AT_ONCE = 20.0  # seconds of one run that deletes
_log = logging.getLogger(__name__)


_to_agents = Client(may_reach=addresses.is_host, connect_seconds=5)  # whose address the operator chose
_to_destinations = Client(may_reach=chosen_by_app, connect_seconds=5)


@dataclass(frozen=True)
class Claimed:
    """A request that this worker, and no other, may send and record."""

    pk: int
    attempts: int
    deletion_id: str
    url: str
    client: Client
    message: Message | None  # none where an access is ended, whose token follows
    agent: str = ""
    access: str = ""


def due(*, limit: int = 100) -> list[int]:
    """Those that nobody has. Receivers take turns, so that a thousand requests to one stand in no other's way."""
    now = database_now()
    waiting = _due(now - _ENQUEUE_GRACE).exclude(Q(status=DeletionStatus.QUEUED) & _busy(now))
    turn = Window(RowNumber(), partition_by=(F("agent"), F("destination")), order_by=("next_attempt_at", "pk"))
    ordered = waiting.annotate(turn=turn).order_by("turn", "next_attempt_at", "pk")
    return list(ordered.values_list("pk", flat=True)[:limit])


def is_due() -> bool:
    """Whether there are any, be their receiver busy or not."""
    return _due(database_now() - _ENQUEUE_GRACE).exists()


def send(deletion_pk: int) -> None:
    """Make one attempt, if it is due; never raises for what the other side does."""
    claimed = _claim(deletion_pk)
    if claimed is None:
        return
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the other side takes
    _record(claimed, *_posted(claimed))


def forget_deletions() -> int:
    """Delete what is left of erasures that were carried out thirty days ago; returns how many rows went."""
    over = Deletion.objects.filter(erasure__isnull=False, requested_at__lte=database_now() - KEPT)
    ended = over.filter(status__in=[DeletionStatus.CONFIRMED, DeletionStatus.UNCONFIRMED])
    return delete_all(ended.order_by("pk"), most_seconds=_AT_ONCE)


def _due(now: datetime) -> QuerySet[Deletion]:
    queued = Q(status=DeletionStatus.QUEUED, next_attempt_at__lte=now)
    return Deletion.objects.filter(queued | Q(status=DeletionStatus.SENDING, lease_until__lte=now))


def _busy(now: datetime) -> Q:
    """To a receiver that holds as many of a worker's threads as it may: one that is slow holds up nobody else."""
    under_way = Deletion.objects.filter(status=DeletionStatus.SENDING, lease_until__gt=now).order_by()

    def holding(path: str, rows: QuerySet[Deletion]) -> QuerySet[Any, Any]:
        found: QuerySet[Any, Any] = rows.values(path).annotate(count=Count("pk")).filter(count__gte=MOST_AT_ONCE)
        return found.values(path)

    to_agent = Q(destination=None, agent__in=holding("agent", under_way.filter(destination=None)))
    to_destination = under_way.filter(destination__isnull=False)
    return to_agent | Q(destination__isnull=False, destination__in=holding("destination", to_destination))


def _claim(deletion_pk: int) -> Claimed | None:
    with transaction.atomic():
        now = database_now()
        related = _due(now).select_related("destination__app", "consent", "erasure")
        row = related.select_for_update(of=("self",)).filter(pk=deletion_pk).first()
        if row is None:
            return None
        if now >= _last_attempt(row):
            _end(row, {"status": DeletionStatus.UNCONFIRMED}, now)
            return None
        if row.status == DeletionStatus.QUEUED and Deletion.objects.filter(_busy(now), pk=row.pk).exists():
            return None
        url = address_of(row)
        if not url:
            _put_off(row, "no_address", None, PAUSES[-1], now)
            return None
        try:
            subject = opened(row)
            written = None if subject.access else message(row, subject)
        except encryption.DecryptionFailed:
            _log.error("deletion %s cannot be opened", row.deletion_id)
            _put_off(row, "unreadable", None, PAUSES[-1], now)
            return None
        claim = {"status": DeletionStatus.SENDING, "attempts": row.attempts + 1, "next_attempt_at": None}
        _unchanged(row).update(lease_until=now + _LEASE, **claim)
    client = _to_agents if row.destination is None else _to_destinations
    return Claimed(row.pk, row.attempts + 1, row.deletion_id, url, client, written, row.agent, subject.access)


def _posted(claimed: Claimed) -> tuple[Answer | None, str]:
    """What the receiver answered, and why that confirms nothing; "" where it does."""
    if claimed.message is None:
        return _ended(claimed)
    headers = {"User-Agent": "Consent-Runtime-Deletion", **claimed.message.headers}
    try:
        answer = claimed.client.post(
            claimed.url, claimed.message.body, headers=headers, seconds=ANSWER_SECONDS, limit=LIMIT
        )
    except InvalidAnswer:
        return None, "refused"
    except ExchangeFailed as failure:
        # for the operator alone: an app chooses the address, and a reason would tell it which ports are open where
        _log.info("deletion %s cannot be delivered: %s", claimed.deletion_id, type(failure).__name__)
        return None, "unreachable"
    return answer, why_unconfirmed(answer, claimed.message)


def _ended(claimed: Claimed) -> tuple[Answer | None, str]:
    try:
        ENDS_ACCESS[claimed.agent](claimed.access)
    except Problem as problem:
        _log.error("the access of %s could not be ended: %s", claimed.deletion_id, problem.code)
        return None, "refused"
    return Answer(200, b""), ""


def _record(claimed: Claimed, answer: Answer | None, why: str) -> None:
    with transaction.atomic():
        mine = Deletion.objects.select_related("consent").select_for_update(of=("self",))
        row = mine.filter(pk=claimed.pk, status=DeletionStatus.SENDING, attempts=claimed.attempts).first()
        if row is None:
            return  # another worker has it, or its person was erased meanwhile and another row asks
        now, code = database_now(), answer.status if answer else None
        if answer is not None and not why:
            columns = {"status_code": code, "error_code": "", "confirmation": kept_answer(answer.body)}
            _end(row, {"status": DeletionStatus.CONFIRMED, **columns}, now)
            if row.consent is not None:
                event, status = ProcessingEvent.DELETION_CONFIRMED, DeletionStatus.CONFIRMED
                notify_app(row.consent, event, status=status, at=now, deletion_id=row.deletion_id)
            return
        pause = PAUSES[min(claimed.attempts, len(PAUSES)) - 1]
        _put_off(row, why, code, pause * random.uniform(0.8, 1.2), now)  # noqa: S311  # jitter, not a secret


def _put_off(row: Deletion, why: str, status_code: int | None, pause: timedelta, now: datetime) -> None:
    """Until the next attempt, the last of which is the end of the thirty days."""
    again = {"status": DeletionStatus.QUEUED, "next_attempt_at": min(now + pause, _last_attempt(row))}
    _unchanged(row).update(**again, lease_until=None, status_code=status_code, error_code=why)


def _last_attempt(row: Deletion) -> datetime:
    return cast("datetime", row.requested_at) + KEPT  # of what is due it is never null


def _end(row: Deletion, ended: dict[str, Any], now: datetime) -> None:
    """Whom it is about is kept no longer than it takes to have it deleted."""
    _unchanged(row).update(**ended, subject=None, next_attempt_at=None, lease_until=None, finished_at=now)


def _unchanged(row: Deletion) -> QuerySet[Deletion]:
    return Deletion.objects.filter(pk=row.pk, status=row.status, attempts=row.attempts)
