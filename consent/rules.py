"""What the database itself holds of this room's rules."""

from common.sql.triggers import Rule, append_only, frozen, transitions, younger_than
from consent.log.rules import RULES as LOG_RULES
from consent.requests.models import FROZEN
from consent.states import GRANT_MOVES, REQUEST_MOVES

# Days in which no read and no notice goes, whatever the settings are; these have it as their least (config/settings.py)
SHORTEST_DAYS = 365

RULES: list[Rule] = [
    frozen("consent_requests", FROZEN, erasable=True),
    transitions("consent_requests", REQUEST_MOVES),
    frozen(
        "consent_grants",
        [
            *("grant_id", "request_id", "app_id", "user_id", "scope", "starts_at", "expires_at", "max_reads"),
            "approved_attributes",  # what a newer export may hold; erasing a person alone empties it
        ],
        erasable=True,
    ),
    transitions("consent_grants", GRANT_MOVES),
    frozen(
        "consent_exports",
        [
            *("export_id", "grant_id", "revision", "connector_key_id", "sources", "sealed_at"),
            # what the vault signed of it: a newer revision is another row, and erasing a person alone empties it
            *("approval", "owner_key", "owner_key_reset", "approved_attributes"),
        ],
        erasable=True,
    ),
    # ciphertext may go, never change
    Rule(
        "consent_exports",
        "ciphertext",
        "UPDATE",
        "consent_exports: ciphertext may go but not change",
        "NEW.ciphertext IS NOT NULL AND OLD.ciphertext IS DISTINCT FROM NEW.ciphertext",
    ),
    # who began it, and where it leads back to
    frozen("connections", ["connection_id", "app_id", "return_url"]),
    # a key never becomes another app's
    frozen("connector_keys", ["app_id", "thumbprint"]),
    frozen("consent_reads", ["grant_id", "export_id", "token_id", "at", "address_prefix"]),
    Rule("consent_reads", "batch", "UPDATE", "consent_reads: a read is chained once", "OLD.batch <> ''"),
    Rule(
        "consent_reads",
        "no_delete",
        "DELETE",
        "consent_reads is append-only",
        f"OLD.batch = '' OR {younger_than(SHORTEST_DAYS)}",
    ),
    Rule("consent_reads", "no_truncate", "TRUNCATE", "consent_reads is append-only"),
    *append_only("consent_audit"),
    *append_only("audit_facts", erasable=["DELETE"]),
    *append_only("audit_chains", erasable=["DELETE"]),
    # what waits to be written may go, once it is, and never changes
    frozen("audit_pending", ["pending_id", "chain", "kind", "actor", "at", "facts", "request_id", "receipt"]),
    # a queue row comes with its entry and goes when the log has it
    frozen("consent_log_queue", ["entry_id", "at"]),
    *LOG_RULES,
    *append_only("consent_receipts", erasable=["DELETE"]),
    *append_only("consent_notices", erasable=["UPDATE"], kept=younger_than(SHORTEST_DAYS)),
    # who wrote a note may go with their account
    frozen("app_report_notes", ["report_id", "status", "note", "at"]),
]
