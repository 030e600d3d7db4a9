"""Notices as they are written, in the transaction of what they tell, with the deliveries that follow from them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import F

from common import request_ids
from common.sql.inserts import insert_rows
from common.sql.statements import notify_all, rows
from consent import status
from consent.ledger import audit
from consent.notices.models import Notice, NoticeCounter, WebhookDelivery
from consent.shapes import ConnectionNotice
from developers.app_events import Occurrence, ProcessingNotice
from developers.apps.models import App
from developers.webhooks.models import WebhookEndpoint

CHANNEL = "consent_notices"
_NOTICE = ("app_id", "request_id", "sequence", "kind", "facts", "at")
EPOCH = 10_000_000  # numbers


@dataclass(frozen=True)
class NewNotice:
    """Which app is told, and of which of its requests."""

    app_pk: int
    request_pk: int
    request_id: str


@audit.must_be_written()
def notify_apps(new: Sequence[NewNotice], *, kind: str, at: datetime) -> None:
    """Write a notice for each of these requests, no two alike, and wake whoever waits once this commits.

    Each app's notices take its next numbers in the order given.
    """
    following = _taken_numbers(Counter(each.app_pk for each in new))
    places = ", ".join(["%s"] * len(new))
    found = rows(f"{status.SELECT} WHERE r.id IN ({places})", [each.request_pk for each in new])
    states = {row["id"]: row for row in found}
    notices: dict[tuple[int, int], Notice] = {}
    for each in new:
        body = status.body(states[each.request_pk], at)
        body["sequence"] = sequence = following[each.app_pk]
        following[each.app_pk] += 1
        pks = {"app_id": each.app_pk, "request_id": each.request_pk}
        notices[each.app_pk, sequence] = Notice(**pks, sequence=sequence, kind=kind, facts=body, at=at)
    _write(notices, at)
    notify_all(CHANNEL, [f"{each.app_pk} {each.request_id}" for each in new])


def notify_of_processing(occurred: Sequence[Occurrence], at: datetime, **_: object) -> list[ProcessingNotice]:
    """The same of what is of no request (developers/app_events.py); returns what the apps are told."""
    following = _taken_numbers(Counter(each.app_pk for each in occurred))
    notices: dict[tuple[int, int], Notice] = {}
    bodies: list[ProcessingNotice] = []
    for each in occurred:
        sequence = following[each.app_pk]
        following[each.app_pk] += 1
        body: ProcessingNotice = {
            "consent_id": each.consent_id,
            "analysis_id": each.analysis_id,
            "activation_id": each.activation_id,
            "deletion_id": each.deletion_id,
            "status": each.status,
            "sequence": sequence,
        }
        notice = Notice(app_id=each.app_pk, sequence=sequence, kind=each.event.value, facts=body, at=at)
        notices[each.app_pk, sequence] = notice
        bodies.append(body)
    _write(notices, at)
    notify_all(CHANNEL, [f"{app_pk} " for app_pk in following])
    return bodies


def notify_of_connection(*, app_pk: int, kind: str, body: ConnectionNotice, at: datetime) -> int:
    """The same of one connection, whose body gets its number here, which is returned."""
    sequence = _taken_numbers(Counter([app_pk]))[app_pk]
    notice = Notice(app_id=app_pk, sequence=sequence, kind=kind, facts={**body, "sequence": sequence}, at=at)
    _write({(app_pk, sequence): notice}, at)
    notify_all(CHANNEL, [f"{app_pk} "])
    return sequence


def _write(notices: dict[tuple[int, int], Notice], at: datetime) -> None:
    """`notices` are by app and number, which names them in the answer of the database."""
    written = [{name: getattr(notice, name) for name in _NOTICE} for notice in notices.values()]
    for app_pk, sequence, pk in insert_rows(Notice, written, returning=("app_id", "sequence", "id")):
        notices[app_pk, sequence].pk = pk
    _enqueue(list(notices.values()), at=at)


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


def _enqueue(notices: Sequence[Notice], *, at: datetime) -> None:
    """Write one delivery for every endpoint of a notice's app that wants its kind, in the notices' transaction."""
    endpoints: dict[int, list[WebhookEndpoint]] = defaultdict(list)
    of_apps = WebhookEndpoint.objects.filter(app__in={notice.app_id for notice in notices}, disabled_at=None)
    # locked, or one that is deleted before this commits would undo what is told
    for endpoint in of_apps.select_for_update(no_key=True).order_by("pk"):
        endpoints[endpoint.app_id].append(endpoint)
    trace_id = request_ids.current()
    new = (
        WebhookDelivery(endpoint_id=endpoint.pk, notice_id=notice.pk, next_at=at, trace_id=trace_id)
        for notice in notices
        for endpoint in endpoints[notice.app_id]
        if not endpoint.types or notice.kind in endpoint.types
    )
    WebhookDelivery.objects.bulk_create(new, batch_size=1000)  # PostgreSQL takes 65,535 values in a statement


def begin_epoch() -> None:
    """Let the next number of every app be the first of an epoch, at least half of one above what the backup had.

    In the transaction of the entry that tells of the restore.
    """
    known = App.objects.values_list("pk", flat=True)
    NoticeCounter.objects.bulk_create([NoticeCounter(app_id=pk) for pk in known], ignore_conflicts=True)
    above = F("sequence") + EPOCH // 2
    NoticeCounter.objects.update(sequence=above - above % EPOCH + EPOCH)


def is_first(sequence: int) -> bool:
    """Whether a number is the first of an epoch that a restore began."""
    return sequence > EPOCH and sequence % EPOCH == 1
