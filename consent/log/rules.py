"""The database's own rules for the log: it only grows, and what was signed stays."""

from common.sql.triggers import Rule, append_only, frozen

RULES = [
    *append_only("consent_log_leaves"),
    *append_only("consent_log_tiles"),
    # the log only grows
    Rule(
        "consent_log_state",
        "grows",
        "UPDATE",
        "consent_log_state: the log only grows",
        "NEW.epoch <> OLD.epoch OR NEW.size < OLD.size OR NEW.signed < OLD.signed",
    ),
    Rule("consent_log_state", "no_delete", "DELETE", "consent_log_state is one row for ever"),
    Rule("consent_log_state", "no_truncate", "TRUNCATE", "consent_log_state is one row for ever"),
    # cosignatures are added; what was signed stays
    frozen("consent_audit_checkpoints", ["number", "epoch", "size", "root", "note", "at"]),
    Rule("consent_audit_checkpoints", "no_delete", "DELETE", "consent_audit_checkpoints is append-only"),
    Rule("consent_audit_checkpoints", "no_truncate", "TRUNCATE", "consent_audit_checkpoints is append-only"),
]
