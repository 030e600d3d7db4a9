"""What every decision and every end leaves behind, in its own transaction: audit, receipt, notice."""

from datetime import datetime
from typing import Any

from django.db import connection

from accounts.database import rows
from consent import audit, receipts, status
from consent.actions.delivering import enqueue
from consent.models import ConsentRequest, Grant, Notice
from consent.states import Actor

# Events that end something carry a receipt; a pause and its end do not (crypto.md, Receipt).
WITHOUT_RECEIPT = frozenset({"paused", "resumed"})
CHANNEL = "consent_notices"


def record(
    *,
    request: ConsentRequest,
    grant: Grant | None,
    event: str,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any],
    happened: datetime | None = None,
) -> dict[str, Any]:
    """Write the event to both chains, sign its receipt, and leave the notice that tells others.

    `at` is when it is written down; `happened`, where that was earlier, is what the receipt proves.

    Returns the status body as the app is told it. The caller holds the request's or grant's row lock; the locks here
    follow in the one order: person's head, app's head, notice counter.
    """
    receipt_id = None if event in WITHOUT_RECEIPT else receipts.new_receipt_id()
    told = {**_names(request, grant), "receipt_id": receipt_id, **facts}
    link = audit.append(
        chain=audit.person_chain(request.user.public_id), kind=event, actor=actor.value, at=at, facts=told
    )
    audit.append(chain=audit.app_chain(request.app.app_id), kind=event, actor=actor.value, at=at, facts=told)
    if receipt_id is not None:
        with audit.must_be_written():
            receipts.issue(
                request=request,
                grant=grant,
                event=event,
                happened=happened or at,
                at=at,
                link=link,
                receipt_id=receipt_id,
            )
    return _notify(request=request, kind=f"consent.{event}", at=at)


def _names(request: ConsentRequest, grant: Grant | None) -> dict[str, Any]:
    """Whom and what an entry is about, in both chains the same."""
    return {
        "request_id": request.request_id,
        "grant_id": grant.grant_id if grant else None,
        "app_id": request.app.app_id,
        "user_id": request.user.public_id,
        "scope": request.scope,
        "request_digest": request.request_digest,
    }


def record_export_update(
    *, request: ConsentRequest, grant: Grant, at: datetime, facts: dict[str, Any]
) -> dict[str, Any]:
    """A continuous grant got a new revision: audited and told, without a receipt, since nothing ended."""
    told = {"request_id": request.request_id, "grant_id": grant.grant_id, "app_id": request.app.app_id, **facts}
    for chain in (audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id)):
        audit.append(chain=chain, kind="export_updated", actor=Actor.PERSON.value, at=at, facts=told)
    return _notify(request=request, kind="export.updated", at=at)


@audit.must_be_written()
def _notify(*, request: ConsentRequest, kind: str, at: datetime) -> dict[str, Any]:
    """Take the app's next number, write the notice, and wake whoever waits once this commits."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO consent_notice_counters (app_id, sequence) VALUES (%s, 1) ON CONFLICT (app_id) "
            "DO UPDATE SET sequence = consent_notice_counters.sequence + 1 RETURNING sequence",
            [request.app_id],
        )
        sequence = int(cursor.fetchone()[0])
    body = status.body(rows(f"{status.SELECT} WHERE r.id = %s", [request.pk])[0], at)
    body["sequence"] = sequence
    notice = Notice.objects.create(
        app_id=request.app_id, request=request, sequence=sequence, kind=kind, facts=body, at=at
    )
    enqueue(notice_pk=notice.pk, kind=kind, app_pk=request.app_id, at=at)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{request.app_id} {request.request_id}"])
    return body
