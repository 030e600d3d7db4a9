"""What the database itself holds of this room's rules."""

from common.sql.triggers import Rule, frozen

RULES: list[Rule] = [
    # who is to be erased, and when, is what the erasing functions go by
    frozen("erasures", ["user_id", "asked_by", "asked_at", "due_at"]),
    Rule(
        "erasures",
        "over",
        "UPDATE",
        "erasures: what is over stays over",
        "OLD.cancelled_at IS DISTINCT FROM NEW.cancelled_at AND OLD.cancelled_at IS NOT NULL "
        "OR OLD.done_at IS DISTINCT FROM NEW.done_at AND OLD.done_at IS NOT NULL",
    ),
    Rule("erasures", "no_delete", "DELETE", "erasures is append-only"),
    Rule("erasures", "no_truncate", "TRUNCATE", "erasures is append-only"),
    Rule(
        "users",
        "erased",
        "UPDATE",
        "users: who was erased stays erased",
        "OLD.erased_at IS NOT NULL "
        "AND (OLD.erased_at IS DISTINCT FROM NEW.erased_at OR OLD.email IS DISTINCT FROM NEW.email)",
    ),
]
