"""Webhooks on their way out. The rows are the queue: a worker that dies loses nothing, the lease runs out."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import QuerySet

from common import encryption, metrics
from common.clock import database_now
from common.shutdown import shutdown
from consent.notices import webhook_client
from consent.notices.models import DeliveryStatus, WebhookDelivery
from developers.models import AppStatus, WebhookEndpoint
from developers.webhooks.actions import disable_endpoint

# Pauses after each failed attempt: three days in all, each one jittered by a fifth either way.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 28800, 36000, 43200, 43200, 43200, 36000)
)
_LEASE = timedelta(seconds=60)
_AT_ONCE = 16


def is_due() -> bool:
    """Whether anything waits to be sent now."""
    return _due(database_now()).exists()


def deliver_due() -> int:
    """Try everything that is due, a few at a time; returns how many were tried."""
    at_once = min(_AT_ONCE, _due(database_now()).count())
    if not at_once:
        return 0
    with ThreadPoolExecutor(at_once) as pool:
        return sum(pool.map(lambda _: _deliver_until_none_is_due(), range(at_once)))


def replay(deliveries: QuerySet[WebhookDelivery]) -> int:
    """Send them once more, whatever became of them: the same identifier, so that a receiver can tell. How many."""
    return deliveries.update(
        status=DeliveryStatus.WAITING, attempt=0, failure="", finished_at=None, next_at=database_now()
    )


def message_id(app_id: str, sequence: int) -> str:
    """The `webhook-id` of a notice, the same with every attempt."""
    return f"msg_{app_id}_{sequence}"


def signing_secrets(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    """What signs for this endpoint: its secret, and for as long as they overlap the one before."""
    sealed = [endpoint.secret]
    if endpoint.previous_until is not None and endpoint.previous_until > now:
        sealed.append(endpoint.previous_secret)
    return [encryption.opened(secret) for secret in sealed]


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
        due = _due(now).select_for_update(skip_locked=True, of=("self",))  # SQLite has no locks of rows
        delivery_pk = due.values_list("pk", flat=True).first()
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
    row = WebhookDelivery.objects.select_related("endpoint", "notice__app").filter(pk=delivery_pk).first()
    if row is None:
        return  # its endpoint was deleted a moment ago
    notice, endpoint = row.notice, row.endpoint
    now = database_now()
    secrets = signing_secrets(endpoint, now)
    connection.close()  # none is held while the receiver takes its time
    outcome = webhook_client.send(
        url=endpoint.url,
        secrets=secrets,
        message_id=message_id(notice.app.app_id, notice.sequence),
        kind=notice.kind,
        at=notice.at,
        data=notice.facts,
        now=now,
        trace_id=row.trace_id,
    )
    _finish(row, outcome)


def _finish(row: WebhookDelivery, outcome: webhook_client.Outcome) -> None:
    metrics.WEBHOOKS.labels("delivered" if outcome.delivered else "failed").inc()
    now = database_now()
    attempt = row.attempt + 1
    changes: dict[str, Any] = {
        "attempt": attempt,
        "status_code": outcome.status_code,
        "ms": None if outcome.status_code is None else outcome.ms,
        "tried_at": now,
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
            _disable(row.endpoint, now)


def _disable(endpoint: WebhookEndpoint, now: datetime) -> None:
    """410: the receiver asked to be left alone. What still waits for it is given up."""
    disable_endpoint(endpoint=endpoint, by=None, reason="it answered 410 Gone")
    WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.WAITING).update(
        status=DeliveryStatus.GIVEN_UP, finished_at=now, failure="the endpoint is disabled"
    )
