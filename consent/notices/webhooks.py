"""Webhooks on their way out. The rows are the queue: a worker that dies loses nothing, the lease runs out."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import QuerySet

from common import encryption
from common.clock import database_now
from common.shutdown import shutdown
from consent.notices import webhook_client
from consent.notices.models import DeliveryStatus, WebhookDelivery
from developers.models import AppStatus, WebhookEndpoint

# Pauses after each failed attempt: three days in all, each one jittered by a fifth either way.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 28800, 36000, 43200, 43200, 43200, 36000)
)
_LEASE = timedelta(seconds=60)
_AT_ONCE = 16


def deliver_due() -> int:
    """Try everything that is due, a few at a time; returns how many were tried."""
    at_once = min(_AT_ONCE, _due(database_now()).count())
    if not at_once:
        return 0
    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(lambda _: _deliver_until_none_is_due(), range(at_once)))


def replay(*, delivery_pk: int) -> None:
    """Send it once more, whatever became of it: the same identifier, so that a receiver can tell."""
    WebhookDelivery.objects.filter(pk=delivery_pk).update(
        status=DeliveryStatus.WAITING, attempt=0, failure="", finished_at=None, next_at=database_now()
    )


def _due(now: datetime) -> QuerySet[WebhookDelivery]:
    """What can be sent now. A suspended app is told nothing: what is for it waits, and goes out once it is restored."""
    return WebhookDelivery.objects.filter(
        status=DeliveryStatus.WAITING,
        next_at__lte=now,
        endpoint__disabled_at=None,
        endpoint__app__status=AppStatus.ACTIVE,
    ).order_by("next_at")


def _claim() -> int | None:
    """Lease what is due first; others pass over it until the lease ends, which is longer than an attempt can take."""
    with transaction.atomic():
        now = database_now()
        waiting = _due(now).select_for_update(skip_locked=True, of=("self",))  # SQLite has no locks of rows
        delivery_pk = waiting.values_list("pk", flat=True).first()
        if delivery_pk is not None:
            WebhookDelivery.objects.filter(pk=delivery_pk).update(next_at=now + _LEASE)
    return delivery_pk


def _deliver_until_none_is_due() -> int:
    tried = 0
    try:
        while not shutdown.has_begun() and (delivery_pk := _claim()) is not None:
            _deliver(delivery_pk)
            tried += 1
    finally:
        connections.close_all()  # this thread ends with its pool
    return tried


def _deliver(delivery_pk: int) -> None:
    row = WebhookDelivery.objects.select_related("endpoint", "notice__app").get(pk=delivery_pk)
    notice, endpoint = row.notice, row.endpoint
    secret = encryption.opened(endpoint.secret)
    connection.close()  # none is held while the receiver takes its time
    outcome = webhook_client.send(
        url=endpoint.url,
        secret=secret,
        message_id=f"msg_{notice.app.app_id}_{notice.sequence}",
        kind=notice.kind,
        at=notice.at,
        data=notice.facts,
        trace_id=row.trace_id,
    )
    _finish(row, outcome)


def _finish(row: WebhookDelivery, outcome: webhook_client.Outcome) -> None:
    now = database_now()
    attempt = row.attempt + 1
    changes: dict[str, Any] = {
        "attempt": attempt,
        "status_code": outcome.status_code,
        "failure": outcome.failure[:120],
    }
    if outcome.delivered:
        changes |= {"status": DeliveryStatus.DELIVERED, "finished_at": now}
    elif outcome.gone or attempt > len(PAUSES):
        changes |= {"status": DeliveryStatus.GIVEN_UP, "finished_at": now}
    else:
        pause = PAUSES[attempt - 1] * random.uniform(0.8, 1.2)  # noqa: S311  # jitter, not a secret
        changes |= {"next_at": now + pause}
    with transaction.atomic():
        WebhookDelivery.objects.filter(pk=row.pk, status=DeliveryStatus.WAITING).update(**changes)
        if outcome.gone:
            _disable(row.endpoint_id, now)


def _disable(endpoint_pk: int, now: datetime) -> None:
    """410: the receiver asked to be left alone. What still waits for it is given up."""
    WebhookEndpoint.objects.filter(pk=endpoint_pk, disabled_at=None).update(
        disabled_at=now, reason="it answered 410 Gone"
    )
    WebhookDelivery.objects.filter(endpoint_id=endpoint_pk, status=DeliveryStatus.WAITING).update(
        status=DeliveryStatus.GIVEN_UP, finished_at=now, failure="the endpoint is disabled"
    )
