"""Reading an approved slice: each read checks the live row, counts itself, and is written down in one statement."""

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import connection, transaction

from accounts.database import database_now, rfc3339, rows, utc
from consent import audit, status
from consent.actions.ending import end_grant
from consent.errors import AccessDenied, AuthorizationPending, GrantEnded, GrantPaused, UnknownRequest
from consent.states import Actor, GrantStatus, RequestStatus
from developers.authentication import AppContext
from developers.idempotency import Claim, claim_idempotency_key

_READ_REPEAT = timedelta(minutes=10)  # how long an Idempotency-Key makes a repeated read one read

_COLUMNS = """
r.request_id, r.status, r.expires_at, u.public_id AS user_id, r.scope, r.connector_key_id,
       g.id AS grant_pk, g.grant_id, g.status AS grant_status, g.expires_at AS grant_expires_at, g.max_reads,
       g.approved_attributes, e.id AS export_pk, e.export_id, e.revision, e.size_bytes, e.sealed_at
"""
_FIND = f"""
SELECT {_COLUMNS}
  FROM consent_requests r
  JOIN users u ON u.id = r.user_id
  LEFT JOIN consent_grants g ON g.request_id = r.id
  LEFT JOIN consent_exports e ON e.grant_id = g.id
 WHERE r.request_id = %(request_id)s AND r.app_id = %(app_pk)s
 ORDER BY e.revision DESC LIMIT 1
"""  # noqa: S608  # made of the constants above

# The claim is the check: a grant that ended a moment ago matches no row, and then nothing was read.
_CLAIM = """
UPDATE consent_grants SET reads = reads + 1
 WHERE id = %(grant_pk)s AND status = 'active' AND expires_at > {clock} AND (max_reads IS NULL OR reads < max_reads)
RETURNING id, reads
"""
_LOG = """
INSERT INTO consent_reads (grant_id, export_id, token_id, at, address_prefix, batch)
VALUES (%(grant_pk)s, %(export_pk)s, %(token_pk)s, {clock}, %(address_prefix)s, '')
"""
_NEWEST = """
SELECT id AS export_pk, export_id, revision, size_bytes, sealed_at, ciphertext FROM consent_exports
 WHERE grant_id = %(grant_pk)s AND ciphertext IS NOT NULL ORDER BY revision DESC LIMIT 1
"""
# The same read once more: checked live like any other, counted never.
_AGAIN = """
SELECT e.export_id, e.revision, e.size_bytes, e.sealed_at, e.ciphertext, g.reads
  FROM consent_grants g JOIN consent_exports e ON e.grant_id = g.id
 WHERE g.id = %(grant_pk)s AND g.status = 'active' AND e.export_id = %(export_id)s AND e.ciphertext IS NOT NULL
"""
# Whether the person's audit chain takes entries now: its first one is inserted once more, which every trigger,
# privilege and constraint of the table gets to refuse, and which the entry itself then turns into nothing. The read's
# own entry is written later, together with others (chaining.py); what cannot be written down is not handed out.
_FIRST_ENTRY = "SELECT a.* FROM consent_audit a WHERE a.chain = %(chain)s AND a.sequence = 1"
_TRY_THE_AUDIT = f"INSERT INTO consent_audit {_FIRST_ENTRY} ON CONFLICT DO NOTHING"
# Find, claim and log as one statement, for the plain read of a grant without a limit. A revocation that commits first
# leaves no row to claim; one that commits later comes after this read.
_AT_ONCE = f"""
WITH live AS (
    SELECT {_COLUMNS}, e.ciphertext
      FROM consent_requests r
      JOIN users u ON u.id = r.user_id
      JOIN consent_grants g ON g.request_id = r.id
      JOIN consent_exports e ON e.grant_id = g.id AND e.ciphertext IS NOT NULL
     WHERE r.request_id = %(request_id)s AND r.app_id = %(app_pk)s AND g.max_reads IS NULL
     ORDER BY e.revision DESC LIMIT 1),
entry AS (
    SELECT a.* FROM live JOIN consent_audit a ON a.chain = 'person:' || live.user_id AND a.sequence = 1),
claimed AS (
    UPDATE consent_grants g SET reads = g.reads + 1 FROM live, entry
     WHERE g.id = live.grant_pk AND g.status = 'active' AND g.expires_at > clock_timestamp()
    RETURNING g.id, g.reads),
logged AS (
    INSERT INTO consent_reads (grant_id, export_id, token_id, at, address_prefix, batch)
    SELECT claimed.id, live.export_pk, %(token_pk)s::bigint, clock_timestamp(), %(address_prefix)s::text, ''
      FROM live, claimed),
tried AS (
    INSERT INTO consent_audit SELECT entry.* FROM entry, claimed ON CONFLICT DO NOTHING)
SELECT live.*, claimed.reads FROM live, claimed
"""  # noqa: S608  # made of the constants above


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
    """The approved slice, sealed. Liveness is checked first; a 304 counts no read, every 200 one."""
    prefix = address_prefix(address)
    named = {"request_id": request_id, "app_pk": app.app_pk}
    plain = if_none_match is None and idempotency_key is None and connection.vendor == "postgresql"
    if plain:
        with audit.must_be_written():
            taken = rows(_AT_ONCE, {**named, "token_pk": app.token_pk, "address_prefix": prefix})
        if taken:
            return _answer(taken[0], accept_jose)
    found = rows(_FIND, named)
    if not found:
        raise UnknownRequest
    row = found[0]
    _refuse_unless_live(row, database_now())
    if if_none_match is not None and _matches(if_none_match, _etag(row, accept_jose)):
        return ExportAnswer(status=304, etag=_etag(row, accept_jose))
    return _answer(_take(app, row, idempotency_key, prefix), accept_jose)


def _etag(row: dict[str, Any], accept_jose: bool) -> str:
    return f'"{row["export_id"]}-{"jose" if accept_jose else "json"}"'


def _answer(row: dict[str, Any], accept_jose: bool) -> ExportAnswer:
    etag = _etag(row, accept_jose)
    if accept_jose:
        return ExportAnswer(status=200, etag=etag, content_type="application/jose", body=row["ciphertext"].encode())
    return ExportAnswer(status=200, etag=etag, content_type="application/json", body=_body(row))


def _refuse_unless_live(row: dict[str, Any], now: datetime) -> None:
    request_status, grant_status = status.request_status(row, now), status.grant_status(row, now)
    match request_status:
        case RequestStatus.PENDING:
            raise AuthorizationPending(headers={"Retry-After": str(status.INTERVAL)})
        case RequestStatus.DENIED:
            raise AccessDenied
        case RequestStatus.CANCELLED | RequestStatus.EXPIRED:
            raise GrantEnded(f"The request is {request_status}.", request_status=request_status)
    if grant_status is GrantStatus.PAUSED:
        raise GrantPaused
    if grant_status is not GrantStatus.ACTIVE:
        raise GrantEnded(f"The approval is {grant_status}.", request_status=request_status, grant_status=grant_status)


def _matches(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


def _take(app: AppContext, row: dict[str, Any], idempotency_key: str | None, prefix: str) -> dict[str, Any]:
    """The export as it is at the claim, with the count of reads; this one is written down, unless it was before."""
    taken = _take_in_steps(app, row, idempotency_key, prefix)
    if taken is None:
        # it ended between the look and the claim: say how it stands now
        fresh = rows(_FIND, {"request_id": row["request_id"], "app_pk": app.app_pk})[0]
        _refuse_unless_live(fresh, database_now())
        raise GrantEnded("The approval has ended.", request_status=fresh["status"], grant_status=fresh["grant_status"])
    return {**row, **taken}


def _take_in_steps(
    app: AppContext, row: dict[str, Any], idempotency_key: str | None, prefix: str
) -> dict[str, Any] | None:
    with transaction.atomic():
        _try_the_audit(audit.person_chain(row["user_id"]))
        claim = _claim_key(app, row, idempotency_key) if idempotency_key is not None else None
        if claim is not None and claim.answer is not None:
            again = rows(_AGAIN, {"grant_pk": row["grant_pk"], "export_id": claim.answer["export_id"]})
            if again:
                return again[0]
        on_postgresql, now = connection.vendor == "postgresql", database_now()
        clock = "clock_timestamp()" if on_postgresql else "%(now)s"
        bound = {"grant_pk": row["grant_pk"], "token_pk": app.token_pk, "address_prefix": prefix}
        if not on_postgresql:
            bound["now"] = connection.ops.adapt_datetimefield_value(now)
        claimed = rows(_CLAIM.format(clock=clock), bound)
        # a renewal takes the same lock: what stands here now stays until this read is over
        exports = rows(_NEWEST, bound) if claimed else []
        if not exports:
            return None
        with audit.must_be_written(), connection.cursor() as cursor:
            cursor.execute(_LOG.format(clock=clock), {**bound, "export_pk": exports[0]["export_pk"]})
        if claim is not None:
            claim.keep({"export_id": exports[0]["export_id"]})
        if claimed[0]["reads"] == row["max_reads"]:
            end_grant(grant_pk=row["grant_pk"], to=GrantStatus.EXHAUSTED, actor=Actor.SYSTEM, at=now)
        return {**exports[0], "reads": claimed[0]["reads"]}


def _try_the_audit(chain: str) -> None:
    """Raises `AuditUnavailable` where this chain takes no entry now, and leaves none."""
    named = {"chain": chain}
    with audit.must_be_written():
        if rows(_FIRST_ENTRY, named):
            with connection.cursor() as cursor:
                cursor.execute(_TRY_THE_AUDIT, named)
            return
        # a grant came of an approval, whose entry is in the chain: whoever took that away gets a full trial
        with transaction.atomic():
            audit.append(chain=chain, kind="trial", actor=Actor.SYSTEM.value, at=database_now(), facts={})
            transaction.set_rollback(True)


def _claim_key(app: AppContext, row: dict[str, Any], key: str) -> Claim:
    """The key's claim; a newer revision under the same key is another read."""
    body = {"request_id": row["request_id"]}
    return claim_idempotency_key(
        app_pk=app.app_pk, operation="consent-export", key=key, body=body, lifetime=_READ_REPEAT
    )


def _body(row: dict[str, Any]) -> bytes:
    attributes = row["approved_attributes"]
    return orjson.dumps(
        {
            "request_id": row["request_id"],
            "grant_id": row["grant_id"],
            "export_id": row["export_id"],
            "revision": row["revision"],
            "user_id": row["user_id"],
            "scope": row["scope"],
            "approved_attributes": orjson.loads(attributes) if isinstance(attributes, str) else attributes,
            "connector_key_id": row["connector_key_id"],
            "sealed_at": rfc3339(utc(row["sealed_at"])),
            "expires_at": rfc3339(utc(row["grant_expires_at"])),
            "reads_remaining": None if row["max_reads"] is None else row["max_reads"] - row["reads"],
            "size_bytes": row["size_bytes"],
            "jwe": row["ciphertext"],
        }
    )


def address_prefix(address: str) -> str:
    """The network that an address lies in (/24, or /48 of IPv6): enough to recognise, too little to trace."""
    try:
        host = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((host, 24 if host.version == 4 else 48), strict=False))
