"""Notices as they are written, in the transaction of what they tell, with the deliveries that follow from them."""

from datetime import datetime

from django.db import connection

from common import tracing
from common.sql.statements import notify, rows
from consent import status
from consent.ledger import audit
from consent.notices.models import Notice, WebhookDelivery
from developers.models import WebhookEndpoint


def enqueue(*, notice_pk: int, kind: str, app_pk: int, at: datetime) -> None:
    """Write one delivery for every endpoint of the app that wants this kind, in the notice's transaction."""
    wanted = [
        endpoint.pk
        for endpoint in WebhookEndpoint.objects.filter(app_id=app_pk, disabled_at=None)
        if not endpoint.types or kind in endpoint.types
    ]
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(endpoint_id=endpoint_pk, notice_id=notice_pk, next_at=at, trace_id=tracing.current())
        for endpoint_pk in wanted
    )


CHANNEL = "consent_notices"


@audit.must_be_written()
def notify_app(*, app_pk: int, request_pk: int, request_id: str, kind: str, at: datetime) -> None:
    """Take the app's next number, write the notice, and wake whoever waits once this commits."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO consent_notice_counters (app_id, sequence) VALUES (%s, 1) ON CONFLICT (app_id) "
            "DO UPDATE SET sequence = consent_notice_counters.sequence + 1 RETURNING sequence",
            [app_pk],
        )
        sequence = int(cursor.fetchone()[0])
    body = status.body(rows(f"{status.SELECT} WHERE r.id = %s", [request_pk])[0], at)
    body["sequence"] = sequence
    notice = Notice.objects.create(
        app_id=app_pk, request_id=request_pk, sequence=sequence, kind=kind, facts=body, at=at
    )
    enqueue(notice_pk=notice.pk, kind=kind, app_pk=app_pk, at=at)
    notify(CHANNEL, f"{app_pk} {request_id}")
