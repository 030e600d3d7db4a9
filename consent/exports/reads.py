"""Reading an approved slice: each read checks the live row, counts itself, and is written down."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.db import connection, transaction

from common import metrics
from common.clock import database_now, rfc3339, utc
from common.network import coarse_prefix
from common.sql.dialect import clock
from common.sql.statements import rows
from consent import status
from consent.errors import AccessDenied, AuthorizationPending, GrantEnded, GrantPaused, UnknownRequest
from consent.grants.actions import end_grant
from consent.ledger import audit
from consent.shapes import ConsentExport
from consent.states import Actor, GrantStatus, RequestStatus
from developers.authentication import AppContext
from developers.idempotency import claim_idempotency_key

_Row = Mapping[str, Any]
_REPEAT = timedelta(minutes=10)  # how long an Idempotency-Key makes a repeated read one read

# In SQL, as the ORM's own compiling takes 2.7 times as long as all of a read's statements. What `status.request_status`
# and `grant_status` take, with the newest export and the first entry of the person's chain.
_STATUS = """
SELECT r.status, r.expires_at, g.id AS grant_pk, g.status AS grant_status, g.expires_at AS grant_expires_at,
       u.public_id, {clock} AS now,
       (SELECT e.export_id FROM consent_exports e WHERE e.grant_id = g.id ORDER BY e.revision DESC LIMIT 1) AS newest,
       (SELECT a.id FROM audit_chains c JOIN consent_audit a ON a.chain = c.chain AND a.sequence = 1
         WHERE c.subject = 'person:' || u.public_id) AS first_entry
  FROM consent_requests r
  JOIN users u ON u.id = r.user_id
  LEFT JOIN consent_grants g ON g.request_id = r.id
 WHERE r.request_id = %(request_id)s AND r.app_id = %(app_pk)s AND NOT r.withheld
"""
_TRY_AUDIT = "INSERT INTO consent_audit SELECT * FROM consent_audit WHERE id = %(first_entry)s ON CONFLICT DO NOTHING"
# `news_waits`: of a first read the person may want a mail or a message, which consent/mail/actions.py sends.
_COUNT = """
UPDATE consent_grants SET reads = reads + 1, news_waits = (news_waits OR reads = 0)
 WHERE id = %(grant_pk)s AND status = 'active' AND expires_at > {clock} AND (max_reads IS NULL OR reads < max_reads)
RETURNING id
"""
_SEALED = """
SELECT e.id AS export_pk, e.export_id, e.revision, e.sealed_at, e.size_bytes, e.ciphertext, e.approval, e.owner_key,
       e.owner_key_reset, COALESCE(e.approved_attributes, g.approved_attributes) AS approved_attributes,
       g.grant_id, g.expires_at, g.max_reads, g.reads, r.request_id, r.scope, r.connector_key_id,
       r.pairwise_id AS user_id, COALESCE(k.history, '[]') AS key_history
  FROM consent_exports e
  JOIN consent_grants g ON g.id = e.grant_id
  JOIN consent_requests r ON r.id = g.request_id
  LEFT JOIN approval_keys k ON k.user_id = r.user_id AND k.app_id = r.app_id
 WHERE g.id = %(grant_pk)s AND g.status = 'active' AND e.ciphertext IS NOT NULL
"""
_NEWEST = f"{_SEALED} ORDER BY e.revision DESC LIMIT 1"
_AGAIN = f"{_SEALED} AND e.export_id = %(export_id)s"
_WRITE_DOWN = """
INSERT INTO consent_reads (grant_id, export_id, token_id, at, address_prefix, batch)
VALUES (%(grant_pk)s, %(export_pk)s, %(token_pk)s, {clock}, %(address_prefix)s, '')
"""


@dataclass(frozen=True)
class ExportAnswer:
    """What `consent-export` answers: 200 with the sealed slice, or 304 without."""

    status: int
    etag: str
    content_type: str = ""
    body: bytes = b""


def read_export(
    *,
    app: AppContext,
    request_id: str,
    accept_jose: bool,
    if_none_match: str | None,
    idempotency_key: str | None,
    address: str,
) -> ExportAnswer:
    """The approved slice, sealed. Liveness is checked first.

    A 304 counts no read; every 200 counts one, but for the same answer again by its idempotency key.
    """
    live = _find_live(app, request_id)
    etag = _etag(live["newest"], accept_jose)
    if if_none_match is not None and _matches(if_none_match, etag):
        return ExportAnswer(status=304, etag=etag)
    read = _read(app=app, request_id=request_id, live=live, key=idempotency_key, address=address)
    if read is None:
        # it ended between the look and the count: say how it stands now
        live = _find_live(app, request_id)
        raise GrantEnded("The approval has ended.", request_status=live["status"], grant_status=live["grant_status"])
    etag = _etag(read["export_id"], accept_jose)
    if accept_jose:
        body = read["ciphertext"].encode()
        return ExportAnswer(status=200, etag=etag, content_type="application/jose", body=body)
    return ExportAnswer(status=200, etag=etag, content_type="application/json", body=_body(read))


def _find_live(app: AppContext, request_id: str) -> _Row:
    """A row of `_STATUS`, or the refusal."""
    at = clock()
    found = rows(_STATUS.format(clock=at.sql), {**at.parameters, "request_id": request_id, "app_pk": app.app_pk})
    if not found:
        raise UnknownRequest
    refuse_unless_live(found[0])
    return found[0]


def refuse_unless_live(row: _Row) -> None:
    """Raise what keeps the app from reading this, by the clock."""
    now = utc(row["now"])
    request_status, grant_status = status.request_status(row, now), status.grant_status(row, now)
    match request_status:
        case RequestStatus.PENDING:
            raise AuthorizationPending(headers={"Retry-After": str(status.INTERVAL)})
        case RequestStatus.DENIED:
            raise AccessDenied()
        case RequestStatus.CANCELLED | RequestStatus.EXPIRED:
            raise GrantEnded(f"The request is {request_status}.", request_status=request_status)
    if grant_status is GrantStatus.PAUSED:
        raise GrantPaused()
    if grant_status is not GrantStatus.ACTIVE:
        raise GrantEnded(f"The approval is {grant_status}.", request_status=request_status, grant_status=grant_status)


@transaction.atomic
def _read(*, app: AppContext, request_id: str, live: _Row, key: str | None, address: str) -> _Row | None:
    """A row of `_SEALED` with its read counted and written down, unless it was before; None where the grant ended."""
    at = clock()
    given = {**at.parameters, "grant_pk": live["grant_pk"]}
    _try_audit(live)
    claim = None
    if key is not None:
        body = {"request_id": request_id}
        claim = claim_idempotency_key(
            app_pk=app.app_pk, operation="consent-export", key=key, body=body, lifetime=_REPEAT
        )
        if claim.answer is not None:
            again = rows(_AGAIN, {**given, "export_id": claim.answer["export_id"]})
            if again:  # else there is a newer revision, which is another read
                return again[0]
    # The count is the check: a grant that ended a moment ago matches no row. A refresh takes the same lock, so what is
    # the newest now stays so until this read is over.
    if not rows(_COUNT.format(clock=at.sql), given):
        return None
    read = rows(_NEWEST, given)[0]
    written = {"export_pk": read["export_pk"], "token_pk": app.token_pk, "address_prefix": coarse_prefix(address)}
    with audit.must_be_written():
        _execute(_WRITE_DOWN.format(clock=at.sql), {**given, **written})
    transaction.on_commit(metrics.READS.inc)
    if claim is not None:
        claim.keep({"export_id": read["export_id"]})
    if read["reads"] == read["max_reads"]:
        end_grant(grant_pk=live["grant_pk"], to=GrantStatus.EXHAUSTED, actor=Actor.SYSTEM, at=database_now())
    return read


def _try_audit(live: _Row) -> None:
    """Raises `AuditUnavailable` where the person's chain takes no entry now, and leaves none.

    Its first entry is inserted once more, which every trigger, privilege and constraint of the table gets to refuse,
    and which the entry itself then turns into nothing. The read's own entry is written later, together with others
    (read_batches.py); what cannot be written down is not handed out.
    """
    with audit.must_be_written():
        if live["first_entry"] is not None:
            _execute(_TRY_AUDIT, {"first_entry": live["first_entry"]})
            return
        # a grant came of an approval, whose entry is in the chain: whoever took that away gets a full trial
        chain = audit.person_chain(live["public_id"])
        with transaction.atomic():
            audit.append(chain=chain, kind="trial", actor=Actor.SYSTEM.value, at=database_now(), facts={})
            transaction.set_rollback(True)


def _execute(statement: str, parameters: Mapping[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def _etag(export_id: str, accept_jose: bool) -> str:
    return f'"{export_id}-{"jose" if accept_jose else "json"}"'


def _matches(if_none_match: str, etag: str) -> bool:
    """Whether the reader has it, also where Apache compressed it on the way and wrote so into the tag."""
    tags = [tag.strip().removeprefix("W/").replace('-gzip"', '"') for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


def _body(read: _Row) -> bytes:
    max_reads = read["max_reads"]
    export: ConsentExport = {
        "request_id": read["request_id"],
        "grant_id": read["grant_id"],
        "export_id": read["export_id"],
        "revision": read["revision"],
        "user_id": read["user_id"],
        "scope": read["scope"],
        "approved_attributes": orjson.loads(read["approved_attributes"]),
        "connector_key_id": read["connector_key_id"],
        "sealed_at": rfc3339(utc(read["sealed_at"])),
        "expires_at": rfc3339(utc(read["expires_at"])),
        "reads_remaining": None if max_reads is None else max_reads - read["reads"],
        "size_bytes": read["size_bytes"],
        "jwe": read["ciphertext"],
        # neither is there once the person was erased, and then no grant lives
        "approval": read["approval"] or "",
        "owner_key": orjson.loads(read["owner_key"] or "{}"),
        "key_history": orjson.loads(read["key_history"]),
        "owner_key_reset": bool(read["owner_key_reset"]),
    }
    return orjson.dumps(export)
