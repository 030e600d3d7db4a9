"""What an app's members do with its webhooks: try an endpoint out, and have deliveries sent once more."""

import threading
from datetime import datetime

from django.db import connection, transaction

from accounts.models import User
from common import limits
from common.clock import database_now, rfc3339
from common.identifiers import new_identifier
from common.problems import TooManyRequests
from consent.event_types import TEST_WEBHOOK_TYPE
from consent.notices import webhook_client
from consent.notices.models import WebhookDelivery
from consent.notices.queries import failed_since
from consent.notices.webhooks import replay, signing_secrets
from consent.shapes import ConsentStatus
from consent.states import RequestStatus
from developers.apps.audit import record
from developers.apps.models import AppStatus
from developers.errors import AppSuspended
from developers.webhooks.errors import EndpointDisabled
from developers.webhooks.models import WebhookEndpoint

TESTS = limits.Limit("webhook-tests", 10, 60)  # of one person
REPLAYS = limits.Limit("webhook-replays", 120, 3600)  # of one app, however many deliveries each
MOST_REPLAYED = 1000  # deliveries at once
TEST_SECONDS = 8.0  # somebody waits for the answer, and holds one of this process's threads
_under_way = threading.BoundedSemaphore(8)  # tests in this process


def send_test(*, endpoint: WebhookEndpoint, by: User) -> webhook_client.Outcome:
    """Send `consent.test` there now, signed like everything else, and say what became of it.

    It tells of nobody, takes no number of the app's sequence and is kept nowhere. A disabled endpoint can be tried out,
    too. Raises `AppSuspended`, `TooManyRequests`.
    """
    if endpoint.app.status != AppStatus.ACTIVE:
        raise AppSuspended("Nothing is sent for an app that is not active.")
    _count(TESTS, by.public_id)
    if not _under_way.acquire(blocking=False):
        raise TooManyRequests("Too many tests are under way.", headers={"Retry-After": "5"})
    try:
        return _sent_test(endpoint)
    finally:
        _under_way.release()


def _sent_test(endpoint: WebhookEndpoint) -> webhook_client.Outcome:
    now = database_now()
    secrets = signing_secrets(endpoint, now)
    if not connection.in_atomic_block:
        connection.close()  # back to the pool, for as long as the receiver takes
    return webhook_client.send(
        url=endpoint.url,
        secrets=secrets,
        message_id=new_identifier("msg_test"),
        kind=TEST_WEBHOOK_TYPE,
        at=now,
        data=_status_of_nobody(now),
        now=now,
        seconds=TEST_SECONDS,
    )


def _status_of_nobody(now: datetime) -> ConsentStatus:
    """A status body, since that is what receivers read, of a request and a person that there cannot be."""
    return {
        "request_id": "req_test",
        "status": RequestStatus.PENDING,
        "user_id": "usr_test",
        "scope": "attr.lifestyle.food.*",
        "interval": 5,
        "created_at": rfc3339(now),
        "expires_at": rfc3339(now),
        "decided_at": None,
        "receipt_id": None,
        "sequence": None,
        "grant": None,
    }


def replay_delivery(*, delivery: WebhookDelivery, by: User) -> None:
    """Send it once more under the same `webhook-id`. Raises `EndpointDisabled`, `TooManyRequests`."""
    endpoint = delivery.endpoint
    _must_be_enabled(endpoint)
    _count(REPLAYS, endpoint.app.app_id)
    with transaction.atomic():
        replay(WebhookDelivery.objects.filter(pk=delivery.pk))
        facts = {"endpoint": endpoint.pk, "url": endpoint.url, "sequence": delivery.notice.sequence}
        record(app=endpoint.app, by=by, action="webhook.replayed", **facts)


def replay_failed(*, endpoint: WebhookEndpoint, since: datetime, by: User) -> int:
    """Send once more what did not arrive of the notices since then, the oldest first, at most MOST_REPLAYED of them.

    Returns how many. Raises `EndpointDisabled`, `TooManyRequests`.
    """
    _must_be_enabled(endpoint)
    _count(REPLAYS, endpoint.app.app_id)
    with transaction.atomic():
        chosen = list(failed_since(endpoint, since).values_list("pk", flat=True)[:MOST_REPLAYED])
        count = replay(WebhookDelivery.objects.filter(pk__in=chosen))
        if count:
            facts = {"endpoint": endpoint.pk, "url": endpoint.url, "deliveries": count, "since": rfc3339(since)}
            record(app=endpoint.app, by=by, action="webhook.replayed", **facts)
    return count


def _must_be_enabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.disabled_at is not None:
        raise EndpointDisabled("Enable it first; nothing is sent there until then.")


def _count(limit: limits.Limit, key: str) -> None:
    counted = limits.count(limit, key)
    counted.require(TooManyRequests, f"Try again in {counted.resets_in} s.")
