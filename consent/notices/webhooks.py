"""Webhooks on their way out. The rows are the queue: a worker that dies loses nothing, the lease runs out."""

import math
import random
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

from django.db import connection, connections, transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery

from common import encryption, metrics
from common.clock import database_now
from common.shutdown import shutdown
from consent.notices import webhook_client
from consent.notices.models import DeliveryStatus, WebhookDelivery
from developers.apps.models import AppMode, AppStatus
from developers.webhooks.actions import disable_endpoint
from developers.webhooks.models import WebhookEndpoint

# Pauses after each failed attempt: three days in all, each one jittered by a fifth either way.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 30, 300, 1800, 7200, 18000, 28800, 36000, 43200, 43200, 43200, 36000)
)
_LEASE = timedelta(seconds=60)
_AT_ONCE = 16
# of these, attempts to one endpoint, to all of an app, and to all apps that need no staff: live ones have the rest
MOST_AT_ONCE, MOST_OF_AN_APP, MOST_OF_TESTS = 4, 6, 8
_LOOK_AGAIN = 1.0  # seconds, while attempts are under way, for what has become due of others
_FIRST = 200  # rows of all in which what is due is looked for, before each endpoint is asked for its own
_turn = threading.BoundedSemaphore(1)  # of the run that claims, so that receivers that hang hold few threads for tasks


class _Claimed(NamedTuple):
    """A delivery that is leased, and whose places its attempt takes."""

    pk: int
    endpoint_pk: int
    app_pk: int
    mode: str


def is_due() -> bool:
    """Whether anything waits to be sent now."""
    now = database_now()
    return _waiting(now).exists() and any(due.exists() for due in _due(now))


def deliver_due(*, most_seconds: float = math.inf) -> int:
    """Try what is due, a few at a time and of each app no more than leaves others their places; returns how many.

    After `most_seconds` it begins no attempt any more. One run of this process begins them at a time: the next may once
    this one waits for its last attempts, and tries nothing before.
    """
    if not _turn.acquire(blocking=False):
        return 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            tried = _try_until_none_is_due(pool, ends_at=time.monotonic() + most_seconds)
        finally:
            _turn.release()
    for attempt in tried:
        attempt.result()  # raises what a defect raised, after the others had their attempts
    return len(tried)


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


def _waiting(now: datetime) -> QuerySet[WebhookDelivery]:
    return WebhookDelivery.objects.filter(status=DeliveryStatus.WAITING, next_at__lte=now).order_by("next_at")


def _due(now: datetime, open_to: Q | None = None) -> Iterator[QuerySet[WebhookDelivery]]:
    """What can be sent now to endpoints that are `open_to`: some of the first rows of all, then by who waits longest.

    The first rows may all be a backlog that has to wait: to pass over that row by row takes longer than an attempt.
    A suspended app is told nothing: what is for it waits, and goes out once it is restored.
    """
    live = WebhookEndpoint.objects.filter(open_to or Q(), disabled_at=None, app__status=AppStatus.ACTIVE)
    waiting = _waiting(now)
    beyond = waiting.values_list("next_at", flat=True)[_FIRST:].first()
    if beyond is None:
        yield waiting.filter(endpoint__in=live)
        return
    yield waiting.filter(endpoint__in=live, next_at__lt=beyond)
    # the same rows by the condition of another index: PostgreSQL would read the backlog in that of `waiting`, too
    own = WebhookDelivery.objects.filter(finished_at=None, next_at__lte=now).order_by("next_at")
    since = Subquery(own.filter(endpoint=OuterRef("pk")).values("next_at")[:1])
    for endpoint in live.annotate(since=since).exclude(since=None).order_by("since")[:_AT_ONCE]:
        yield own.filter(endpoint=endpoint)


def _try_until_none_is_due(pool: ThreadPoolExecutor, *, ends_at: float) -> list[Future[None]]:
    """The attempts that were begun, some of which are still under way where the time was over."""
    tried: list[Future[None]] = []
    under_way: dict[Future[None], _Claimed] = {}
    while not shutdown.has_begun() and time.monotonic() < ends_at:
        claimed = _claim(under_way.values()) if len(under_way) < _AT_ONCE else None
        if claimed is not None:
            tried.append(pool.submit(_attempt, claimed.pk))
            under_way[tried[-1]] = claimed
        elif under_way:
            connection.close()  # none is held while the receivers take their time
            wait(under_way, timeout=min(_LOOK_AGAIN, max(0.0, ends_at - time.monotonic())), return_when=FIRST_COMPLETED)
        else:
            break
        under_way = {attempt: claimed for attempt, claimed in under_way.items() if not attempt.done()}
    return tried


def _claim(under_way: Collection[_Claimed]) -> _Claimed | None:
    """Lease what is due first of an app with nothing under way, else of one that has a place left.

    Others pass over it until the lease ends, which is longer than an attempt can take.
    """
    with transaction.atomic():
        now, open_to = database_now(), _has_place(under_way)
        of_others = open_to & ~Q(app__in={each.app_pk for each in under_way})
        for due in chain(*(_due(now, which) for which in ((of_others, open_to) if under_way else (open_to,)))):
            claimable = due.select_for_update(skip_locked=True, of=("self",))  # SQLite has no locks of rows
            found = claimable.values_list("pk", "endpoint_id", "endpoint__app__pk", "endpoint__app__mode").first()
            if found is not None:
                WebhookDelivery.objects.filter(pk=found[0]).update(next_at=now + _LEASE)
                return _Claimed(*found)
    return None


def _has_place(under_way: Collection[_Claimed]) -> Q:
    """To endpoints, and of apps, that do not have all of this run's places that they may."""
    of_endpoints = Counter(each.endpoint_pk for each in under_way)
    of_apps = Counter(each.app_pk for each in under_way)
    has_place = ~Q(pk__in=[pk for pk, count in of_endpoints.items() if count >= MOST_AT_ONCE])
    has_place &= ~Q(app__in=[pk for pk, count in of_apps.items() if count >= MOST_OF_AN_APP])
    if sum(each.mode != AppMode.LIVE for each in under_way) >= MOST_OF_TESTS:
        has_place &= Q(app__mode=AppMode.LIVE)
    return has_place


def _attempt(delivery_pk: int) -> None:
    try:
        _deliver(delivery_pk)
    finally:
        connections.close_all()  # this thread may get no other


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
        if outcome.gone:  # before its deliveries, as whoever deletes it takes them
            disable_endpoint(endpoint=row.endpoint, by=None, reason="it answered 410 Gone")
        WebhookDelivery.objects.filter(pk=row.pk, status=DeliveryStatus.WAITING).update(**changes)
        if outcome.gone:
            _give_up(row.endpoint, now)


def _give_up(endpoint: WebhookEndpoint, now: datetime) -> None:
    """410: the receiver asked to be left alone. What still waits for it is given up."""
    WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.WAITING).update(
        status=DeliveryStatus.GIVEN_UP, finished_at=now, failure="the endpoint is disabled"
    )
