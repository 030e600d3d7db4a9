"""Notices as they are written, in the transaction of what they tell, with the deliveries that follow from them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from common import tracing
from common.sql.inserts import insert_rows
from common.sql.statements import notify_all, rows
from consent import status
from consent.ledger import audit
from consent.notices.models import Notice, WebhookDelivery
from developers.models import WebhookEndpoint

CHANNEL = "consent_notices"
_NOTICE = ("app_id", "request_id", "sequence", "kind", "facts", "at")


@dataclass(frozen=True)
class NewNotice:
    """Which app is told, and of which of its requests."""

    app_pk: int
    request_pk: int
    request_id: str


def notify_app(*, app_pk: int, request_pk: int, request_id: str, kind: str, at: datetime) -> None:
    """Take the app's next number, write the notice, and wake whoever waits once this commits."""
    notify_apps([NewNotice(app_pk, request_pk, request_id)], kind=kind, at=at)


@audit.must_be_written()
def notify_apps(new: Sequence[NewNotice], *, kind: str, at: datetime) -> None:
    """The same of several requests, no two alike; each app's notices take its next numbers in the order given."""
    following = _taken_numbers(Counter(each.app_pk for each in new))
    places = ", ".join(["%s"] * len(new))
    found = rows(f"{status.SELECT} WHERE r.id IN ({places})", [each.request_pk for each in new])
    stands = {row["id"]: row for row in found}
    notices: dict[tuple[int, int], Notice] = {}
    for each in new:
        body = status.body(stands[each.request_pk], at)
        body["sequence"] = sequence = following[each.app_pk]
        following[each.app_pk] += 1
        pks = {"app_id": each.app_pk, "request_id": each.request_pk}
        notices[each.app_pk, sequence] = Notice(**pks, sequence=sequence, kind=kind, facts=body, at=at)
    written = [{name: getattr(notice, name) for name in _NOTICE} for notice in notices.values()]
    for app_pk, sequence, pk in insert_rows(Notice, written, returning=("app_id", "sequence", "id")):
        notices[app_pk, sequence].pk = pk
    enqueue(list(notices.values()), kind=kind, at=at)
    notify_all(CHANNEL, [f"{each.app_pk} {each.request_id}" for each in new])


def _taken_numbers(counts: Counter[int]) -> dict[int, int]:
    """Take so many numbers of each app; returns the first of them. Locks the counters in the order of the apps."""
    apps = sorted(counts)
    places = ", ".join(["(%s, %s)"] * len(apps))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO consent_notice_counters (app_id, sequence) VALUES {places} ON CONFLICT (app_id) "  # noqa: S608  # placeholders
            "DO UPDATE SET sequence = consent_notice_counters.sequence + excluded.sequence RETURNING app_id, sequence",
            [value for app_pk in apps for value in (app_pk, counts[app_pk])],
        )
        return {app_pk: newest - counts[app_pk] + 1 for app_pk, newest in cursor.fetchall()}


def enqueue(notices: Sequence[Notice], *, kind: str, at: datetime) -> None:
    """Write one delivery for every endpoint of a notice's app that wants this kind, in the notices' transaction."""
    wanting: dict[int, list[int]] = defaultdict(list)
    endpoints = WebhookEndpoint.objects.filter(app__in={notice.app_id for notice in notices}, disabled_at=None)
    for endpoint in endpoints:
        if not endpoint.types or kind in endpoint.types:
            wanting[endpoint.app_id].append(endpoint.pk)
    trace_id = tracing.current()
    new = (
        WebhookDelivery(endpoint_id=endpoint_pk, notice_id=notice.pk, next_at=at, trace_id=trace_id)
        for notice in notices
        for endpoint_pk in wanting[notice.app_id]
    )
    WebhookDelivery.objects.bulk_create(new, batch_size=1000)  # PostgreSQL takes 65,535 values in a statement
