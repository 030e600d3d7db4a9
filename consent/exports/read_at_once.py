"""The hot read of an export: look, claim and log as one statement, on PostgreSQL.

The plain code is read_steps.py, which is also what runs wherever this does not apply: on SQLite, with an
Idempotency-Key, and for the last read of a grant, which ends it. tests/consent/test_hot_reads.py compares the two. One
statement instead takes 0.24 of the time of `GET /consent-export` (docs/adr/0019).
"""

import orjson
from django.db import connection

from common.sql.statements import rows
from consent.exports.taken_reads import ReadCall, TakenRead
from consent.ledger import audit

# A revocation that commits first leaves no row to claim; one that commits later comes after this read. `tried` is
# `read_steps._try_the_audit`.
_AT_ONCE = """
WITH live AS (
    SELECT r.request_id, u.public_id AS user_id, r.scope, r.connector_key_id, g.id AS grant_pk, g.grant_id,
           g.expires_at AS grant_expires_at, g.max_reads,
           COALESCE(e.approved_attributes, g.approved_attributes) AS approved_attributes, e.id AS export_pk,
           e.export_id, e.revision, e.size_bytes, e.sealed_at, e.ciphertext, e.approval, e.owner_key, e.owner_key_reset,
           COALESCE(k.history, '[]') AS key_history
      FROM consent_requests r
      JOIN users u ON u.id = r.user_id
      JOIN consent_grants g ON g.request_id = r.id
      JOIN consent_exports e ON e.grant_id = g.id AND e.ciphertext IS NOT NULL
      LEFT JOIN approval_keys k ON k.user_id = r.user_id AND k.app_id = r.app_id
     WHERE r.request_id = %(request_id)s AND r.app_id = %(app_pk)s
     ORDER BY e.revision DESC LIMIT 1),
entry AS (
    SELECT a.* FROM live
      JOIN audit_chains c ON c.subject = 'person:' || live.user_id
      JOIN consent_audit a ON a.chain = c.chain AND a.sequence = 1),
claimed AS (
    UPDATE consent_grants g SET reads = g.reads + 1 FROM live, entry
     WHERE g.id = live.grant_pk AND g.status = 'active' AND g.expires_at > clock_timestamp()
       AND (g.max_reads IS NULL OR g.reads + 1 < g.max_reads)
    RETURNING g.id, g.reads),
logged AS (
    INSERT INTO consent_reads (grant_id, export_id, token_id, at, address_prefix, batch)
    SELECT claimed.id, live.export_pk, %(token_pk)s::bigint, clock_timestamp(), %(address_prefix)s::text, ''
      FROM live, claimed),
tried AS (
    INSERT INTO consent_audit SELECT entry.* FROM entry, claimed ON CONFLICT DO NOTHING)
SELECT live.*, claimed.reads FROM live, claimed
"""


def take_read(call: ReadCall) -> TakenRead | None:
    """None where nothing was read, for whatever reason: the steps say which, or read."""
    if call.idempotency_key is not None or connection.vendor != "postgresql":
        return None
    given = {
        "request_id": call.request_id,
        "app_pk": call.app.app_pk,
        "token_pk": call.app.token_pk,
        "address_prefix": call.address_prefix,
    }
    with audit.must_be_written():
        found = rows(_AT_ONCE, given)
    if not found:
        return None
    row = found[0]
    del row["grant_pk"], row["export_pk"]
    for column in ("approved_attributes", "owner_key", "key_history"):
        row[column] = row[column] and orjson.loads(row[column])
    return TakenRead(**row)
