"""The worker's side of a sending: claim the row, send, record what was answered.

The rows are the queue. Whoever sends holds a lease that is longer than an attempt can take; a worker that dies leaves
one that runs out, and the next sends the same message under the same `webhook-id`. Before every attempt it is asked
whether the consent still holds, the analysis is still there and the destination still takes anything.
"""

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from agents_proxy.activations import payloads
from agents_proxy.activations.actions import notify_apps
from agents_proxy.activations.models import Activation
from agents_proxy.deletions.actions import record_disclosure, record_return
from agents_proxy.deletions.receivers import Receiver, receiver_of
from agents_proxy.destinations.actions import disable_destination
from agents_proxy.destinations.queries import destinations_reaching
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import ActivationStatus, Purpose
from common import encryption
from common.clock import database_now
from common.outbound.client import Client, chosen_by_app
from common.outbound.failures import ExchangeFailed
from common.outbound.signing import signed_headers
from developers.apps.models import AppStatus

# After each failed attempt, each pause jittered by a fifth either way: less than a day, as long as a consent lasts.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 36000))
ANSWER_SECONDS = 15
# attempts under way to one destination, and to all of an app, or about that many: two who claim at once see neither
MOST_AT_ONCE, MOST_OF_AN_APP = 2, 4
_LEASE = timedelta(seconds=60)
_ENQUEUE_GRACE = timedelta(seconds=2)  # for so long the worker that was told of a row may have it
_log = logging.getLogger(__name__)


_client = Client(may_reach=chosen_by_app, connect_seconds=5)


@dataclass(frozen=True)
class Claimed:
    """A sending that this worker, and no other, may make and record."""

    pk: int
    attempts: int
    activation_id: str
    url: str
    secret: str
    body: bytes
    to: Receiver
    consent_pk: int
    at: datetime


def due(*, limit: int = 100) -> list[int]:
    """Those that nobody has, and those that have to end since something they need is gone.

    Apps take turns, so that a thousand sendings to one stand in no other's way.
    """
    now = database_now()
    waiting = _due(now - _ENQUEUE_GRACE).exclude(Q(status=ActivationStatus.QUEUED) & _busy(now))
    turn = Window(RowNumber(), partition_by=F("destination__app"), order_by=("next_attempt_at", "pk"))
    ordered = waiting.annotate(turn=turn).order_by("turn", "next_attempt_at", "pk")
    return list(ordered.values_list("pk", flat=True)[:limit])


def is_due() -> bool:
    """Whether there are any, be their destination busy or not."""
    return _due(database_now() - _ENQUEUE_GRACE).exists()


def send(activation_pk: int) -> None:
    """Make one attempt, if it is due; never raises for what the other side does."""
    claimed = _claim(activation_pk)
    if claimed is None:
        return
    identifiers = payloads.identifiers_in(claimed.body)
    if not record_disclosure(consent_pk=claimed.consent_pk, to=claimed.to, identifiers=identifiers):
        _record(claimed, None)  # it was withdrawn meanwhile, so that no other attempt follows
        return
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the other side takes
    try:
        status_code = _posted(claimed)
    finally:
        record_return(consent_pk=claimed.consent_pk, to=claimed.to)
    _record(claimed, status_code)


def _due(now: datetime) -> QuerySet[Activation]:
    gone = Q(run=None) | Q(consent__withdrawn_at__isnull=False) | Q(destination__disabled_at__isnull=False)
    queued = Q(status=ActivationStatus.QUEUED) & (Q(next_attempt_at__lte=now) | gone)
    return Activation.objects.filter(queued | Q(status=ActivationStatus.SENDING, lease_until__lte=now))


def _busy(now: datetime) -> Q:
    """To a destination, or to one of an app, that holds as many of a worker's threads as it may.

    One that is slow holds up nobody else, and twenty slow ones of an app do not either.
    """
    under_way = Activation.objects.filter(status=ActivationStatus.SENDING, lease_until__gt=now).order_by()

    def holding(path: str, most: int) -> QuerySet[Any, Any]:
        found: QuerySet[Any, Any] = under_way.values(path).annotate(count=Count("pk")).filter(count__gte=most)
        return found.values(path)

    of_app = Q(destination__app__in=holding("destination__app", MOST_OF_AN_APP))
    return Q(destination__in=holding("destination", MOST_AT_ONCE)) | of_app


def _claim(activation_pk: int) -> Claimed | None:
    with transaction.atomic():
        now = database_now()
        rows = _due(now).select_related("destination__app", "consent__user", "run").select_for_update(of=("self",))
        found = rows.filter(pk=activation_pk).first()
        if found is None:
            return None
        why = _obstacle(found)
        if why:
            _end(found, {"status": ActivationStatus.FAILED, "error_code": why}, now)
            return None
        if found.status == ActivationStatus.QUEUED and Activation.objects.filter(_busy(now), pk=found.pk).exists():
            return None
        attempts = found.attempts + 1
        claim = {"status": ActivationStatus.SENDING, "attempts": attempts, "next_attempt_at": None}
        _unchanged(found).update(lease_until=now + _LEASE, **claim)
        destination = found.destination
    secret, body = encryption.opened(destination.secret), encryption.opened(str(found.body))
    to = receiver_of(destination)
    return Claimed(
        found.pk, attempts, found.activation_id, destination.url, secret, body.encode(), to, found.consent_id, now
    )


def _obstacle(row: Activation) -> str:
    """Why nothing may be sent any more; "" where it may."""
    if row.run_id is None:
        return "analysis_deleted"
    if row.destination.disabled_at is not None or row.destination.app.status != AppStatus.ACTIVE:
        return "destination_disabled"
    if not destinations_reaching(row.consent.user).filter(pk=row.destination_id).exists():
        return "destination_disabled"
    if not consents.is_live(row.consent, Purpose.ACTIVATION):
        return "consent_ended"
    return "worker_lost" if row.attempts > len(PAUSES) else ""


def _posted(claimed: Claimed) -> int | None:
    """The status that the destination answers with, or None without an answer."""
    headers = {
        "User-Agent": "Consent-Runtime-Activation",
        **signed_headers(claimed.activation_id, claimed.body, [claimed.secret], claimed.at),
    }
    try:
        return _client.post(claimed.url, claimed.body, headers=headers, seconds=ANSWER_SECONDS, limit=0).status
    except ExchangeFailed as failure:
        # for the operator alone: an app chooses the address, and a reason would tell it which ports are open where
        _log.info("activation %s cannot be delivered: %s", claimed.activation_id, type(failure).__name__)
        return None


def _record(claimed: Claimed, status_code: int | None) -> None:
    with transaction.atomic():
        mine = Activation.objects.select_related("destination__app", "consent", "run").select_for_update(of=("self",))
        row = mine.filter(pk=claimed.pk, status=ActivationStatus.SENDING, attempts=claimed.attempts).first()
        if row is None:
            return  # another worker has it
        now = database_now()
        if status_code is not None and 200 <= status_code < 300:
            ended = {"status": ActivationStatus.DELIVERED, "error_code": "", "status_code": status_code}
            _end(row, ended, now)
            return
        error = {"error_code": "unreachable" if status_code is None else "refused", "status_code": status_code}
        if status_code == 410:
            disable_destination(destination=row.destination, by=None, reason="it answered 410 Gone")
        if not consents.is_live(row.consent, Purpose.ACTIVATION):
            error["error_code"] = "consent_ended"  # no other attempt follows, and nothing of it is kept for one
            _end(row, {"status": ActivationStatus.FAILED, **error}, now)
            return
        if status_code == 410 or claimed.attempts > len(PAUSES):
            _end(row, {"status": ActivationStatus.FAILED, **error}, now)
            return
        pause = PAUSES[claimed.attempts - 1] * random.uniform(0.8, 1.2)  # noqa: S311  # jitter, not a secret
        again = {"status": ActivationStatus.QUEUED, "next_attempt_at": now + pause, "lease_until": None}
        _unchanged(row).update(**again, **error)


def _end(row: Activation, ended: dict[str, Any], now: datetime) -> None:
    """What was sent is kept no longer than it takes to send it. `consent` and `run` must be loaded."""
    if _unchanged(row).update(**ended, body=None, next_attempt_at=None, lease_until=None, finished_at=now):
        notify_apps([row], ended["status"], now)


def _unchanged(row: Activation) -> QuerySet[Activation]:
    return Activation.objects.filter(pk=row.pk, status=row.status, attempts=row.attempts)
