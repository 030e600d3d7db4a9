"""What every decision and every end leaves behind, in its own transaction: audit, receipt, notice.

What gives access happens only if all three are written. What ends or refuses it happens in any case (protecting.py).
"""

from datetime import datetime
from typing import Any

from django.db import connection

from accounts.database import rows
from consent import audit, receipts, status
from consent.actions.delivering import enqueue
from consent.actions.protecting import commit_anyway
from consent.models import ConsentRequest, Grant, Notice
from consent.states import Actor

# Events that end something carry a receipt; a pause and its end do not (crypto.md, Receipt).
WITHOUT_RECEIPT = frozenset({"paused", "resumed"})
CHANNEL = "consent_notices"


# What protects a person. `exhausted` comes with a read, and `superseded` with an approval: these give access.
PROTECTS = frozenset({"denied", "cancelled", "expired", "revoked", "released", "terminated", "paused"})


def record(
    *,
    request: ConsentRequest,
    grant: Grant | None,
    event: str,
    actor: Actor,
    at: datetime,
    facts: dict[str, Any],
    happened: datetime | None = None,
    notify: bool = True,
) -> None:
    """Write the event to both chains, sign its receipt, and leave the notice that tells others.

    `at` is when it is written down; `happened`, where that was earlier, is what the receipt proves. Without `notify`
    the app knows already. The caller holds the request's or grant's row lock; the locks here follow in the one order:
    person's head, app's head, notice counter. Raises `AuditUnavailable`, but not for what protects a person.
    """
    receipt = None
    if event not in WITHOUT_RECEIPT:
        receipt = receipts.claims_about(
            request=request, grant=grant, event=event, happened=happened or at, receipt_id=receipts.new_receipt_id()
        )
    told = {**_names(request, grant), "receipt_id": receipt["receipt_id"] if receipt else None, **facts}
    entry: dict[str, Any] = {"kind": event, "actor": actor.value, "at": at, "facts": told}
    person, app = audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id)

    def write() -> None:
        link = audit.append(chain=person, **entry)
        audit.append(chain=app, **entry)
        if receipt is not None:
            with audit.must_be_written():
                receipts.signed(claims=receipt, request_pk=request.pk, entry=link.as_claims(), at=at).save()

    def hold() -> None:
        audit.hold(chain=person, **entry, request_pk=request.pk, receipt=receipt)
        audit.hold(chain=app, **entry, request_pk=request.pk)

    def tell() -> None:
        if notify:
            _notify(request=request, kind=f"consent.{event}", at=at)

    if event in PROTECTS:
        about = request.request_id
        commit_anyway(write, otherwise=hold, what=f"the audit entry “{event}”", about=about)
        commit_anyway(tell, what=f"the notice “{event}”", about=about)
    else:
        write()
        tell()


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


def record_export_update(*, request: ConsentRequest, grant: Grant, at: datetime, facts: dict[str, Any]) -> None:
    """A continuous grant got a new revision: audited and told, without a receipt, since nothing ended."""
    told = {"request_id": request.request_id, "grant_id": grant.grant_id, "app_id": request.app.app_id, **facts}
    for chain in (audit.person_chain(request.user.public_id), audit.app_chain(request.app.app_id)):
        audit.append(chain=chain, kind="export_updated", actor=Actor.PERSON.value, at=at, facts=told)
    _notify(request=request, kind="export.updated", at=at)


@audit.must_be_written()
def _notify(*, request: ConsentRequest, kind: str, at: datetime) -> None:
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
