"""What the database itself holds of this room's rules."""

from agents_proxy.states import ACTIVATION_MOVES, DELETION_MOVES, MESSAGE_MOVES, RUN_MOVES, STEP_MOVES
from common.sql.triggers import Rule, frozen, transitions

RULES: list[Rule] = [
    frozen(
        "processing_consents",
        [
            "consent_id",
            "user_id",
            "reach",
            "purposes",
            "destinations",
            "email",
            "number_digest",
            "statement_version",
            "statement",
            "origin",
            "app_id",
            "token_digest",
            "given_at",
        ],
    ),
    Rule(
        "processing_consents",
        "renewed",
        "UPDATE",
        "processing_consents: the end moves later alone, by a renewal of what holds",
        "OLD.expires_at IS DISTINCT FROM NEW.expires_at AND (NEW.expires_at < OLD.expires_at OR NEW.renewed_at IS NULL "
        "OR NEW.renewed_at >= OLD.expires_at OR OLD.withdrawn_at IS NOT NULL)",
    ),
    Rule(
        "processing_consents",
        "withdrawn",
        "UPDATE",
        "processing_consents: what was withdrawn stays withdrawn",
        "OLD.withdrawn_at IS NOT NULL AND OLD.withdrawn_at IS DISTINCT FROM NEW.withdrawn_at",
    ),
    frozen("analysis_runs", ["analysis_id", "user_id", "consent_id"]),
    transitions("analysis_runs", RUN_MOVES),
    frozen("analysis_steps", ["run_id", "agent", "task_id"]),
    transitions("analysis_steps", STEP_MOVES),
    transitions("outbound_messages", MESSAGE_MOVES),
    frozen("activation_destinations", ["destination_id", "app_id", "name", "url"]),
    Rule(
        "activation_destinations",
        "removed",
        "UPDATE",
        "activation_destinations: what was removed stays removed",
        "OLD.removed_at IS NOT NULL AND OLD.removed_at IS DISTINCT FROM NEW.removed_at",
    ),
    frozen("activations", ["activation_id", "destination_id", "consent_id", "number", "digest", "created_at"]),
    Rule(
        "activations",
        "run",
        "UPDATE",
        "activations: an analysis can be deleted, and never be another one",
        "NEW.run_id IS NOT NULL AND OLD.run_id IS DISTINCT FROM NEW.run_id",
    ),
    transitions("activations", ACTIVATION_MOVES),
    frozen(
        "deletions",
        ["deletion_id", "consent_id", "erasure_id", "part", "agent", "destination_id", "origin", "first_at"],
    ),
    Rule(
        "deletions",
        "requested",
        "UPDATE",
        "deletions: what was asked for stays asked for, since then",
        "OLD.requested_at IS NOT NULL AND OLD.requested_at IS DISTINCT FROM NEW.requested_at",
    ),
    transitions("deletions", DELETION_MOVES),
]
