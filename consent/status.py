"""The status body of contract 1.4, from one row, whoever tells it: polling, waiting, events, webhooks, lists."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import orjson
from django.utils import timezone

from accounts.models import User
from common.clock import database_now, rfc3339, utc
from common.sql.statements import rows
from consent.errors import UnknownRequest
from consent.shapes import ConsentStatus
from consent.shapes import Grant as GrantShape
from consent.states import GrantStatus, RequestStatus, effective_grant_status, effective_request_status
from developers.people import named_by

INTERVAL = 5  # seconds between polls

_COLUMNS = """
       r.id, r.request_id, r.status, r.pairwise_id AS user_id, r.scope, r.created_at, r.expires_at, r.decided_at,
       g.grant_id, g.status AS grant_status, g.expires_at AS grant_expires_at, g.reads, g.max_reads,
       g.approved_attributes,
       (SELECT max(e.revision) FROM consent_exports e WHERE e.grant_id = g.id) AS export_revision,
       CASE WHEN EXISTS (SELECT 1 FROM audit_pending p WHERE p.request_id = r.id AND p.receipt IS NOT NULL) THEN NULL
       ELSE (SELECT c.receipt_id FROM consent_receipts c WHERE c.request_id = r.id ORDER BY c.id DESC LIMIT 1)
       END AS receipt_id,
       (SELECT n.sequence FROM consent_notices n WHERE n.request_id = r.id ORDER BY n.sequence DESC LIMIT 1) AS sequence
"""
_FROM = """
  FROM consent_requests r
  LEFT JOIN consent_grants g ON g.request_id = r.id
"""
SELECT = f"SELECT {_COLUMNS} {_FROM}"
_OF_APP = f"{SELECT} WHERE r.request_id = %s AND r.app_id = %s AND NOT r.withheld"
_NEWEST_OF_APP = (
    f"{SELECT} WHERE r.user_id = {{named}} AND r.scope = %(scope)s AND r.app_id = %(app_pk)s AND NOT r.withheld "
    "ORDER BY r.id DESC LIMIT 1"
)
_OF_OWNER = f"{SELECT} WHERE r.request_id = %s AND r.user_id = %s"


def for_app(
    *, app_pk: int, request_id: str | None = None, user_id: str | None = None, scope: str | None = None
) -> ConsentStatus:
    """The status body of one request of this app, or of its newest for a person and scope. One query."""
    if request_id is not None:
        found = rows(_OF_APP, [request_id, app_pk])
    else:
        named = named_by(app_pk, user_id or "")
        found = rows(_NEWEST_OF_APP.format(named=named.sql), {**named.parameters, "scope": scope})
    if not found:
        raise UnknownRequest
    return body(found[0], timezone.now())  # a second more or less decides nothing here


def for_owner(*, request_id: str, user: User) -> ConsentStatus:
    """The same body for the person whom the request is about."""
    found = rows(_OF_OWNER, [request_id, user.pk])
    if not found:
        raise UnknownRequest
    return body(found[0], database_now())


def request_status(row: Mapping[str, Any], now: datetime) -> RequestStatus:
    return effective_request_status(row["status"], _deadline(row["expires_at"]), now)


def grant_status(row: Mapping[str, Any], now: datetime) -> GrantStatus | None:
    """Where the grant of a row stands at `now`; None without one."""
    if row["grant_status"] is None:
        return None
    return effective_grant_status(row["grant_status"], _deadline(row["grant_expires_at"]), now)


def _deadline(value: Any) -> datetime:
    return cast("datetime", utc(value))  # a column that is never null


def body(row: Mapping[str, Any], now: datetime) -> ConsentStatus:
    """The status body; `row` is one of `SELECT`."""
    status = request_status(row, now)
    decided_at = row["decided_at"] or (row["expires_at"] if status == RequestStatus.EXPIRED else None)
    return {
        "request_id": row["request_id"],
        "status": status,
        "user_id": row["user_id"],
        "scope": row["scope"],
        "interval": INTERVAL,
        "created_at": rfc3339(utc(row["created_at"])),
        "expires_at": rfc3339(utc(row["expires_at"])),
        "decided_at": rfc3339(utc(decided_at)),
        "receipt_id": row["receipt_id"],
        "sequence": row["sequence"],
        "grant": _grant(row, now),
    }


def _grant(row: Mapping[str, Any], now: datetime) -> GrantShape | None:
    status = grant_status(row, now)
    if status is None:
        return None
    attributes = row["approved_attributes"]
    return {
        "grant_id": row["grant_id"],
        "status": status,
        "expires_at": rfc3339(utc(row["grant_expires_at"])),
        "reads": row["reads"],
        "reads_remaining": None if row["max_reads"] is None else row["max_reads"] - row["reads"],
        "approved_attributes": orjson.loads(attributes) if isinstance(attributes, str | bytes) else attributes,
        "export_revision": row["export_revision"],
    }
