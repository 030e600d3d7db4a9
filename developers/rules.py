"""What the database itself holds of this room's rules."""

from common.sql.triggers import Rule, frozen

RULES: list[Rule] = [
    # the member may go with their account
    frozen("app_audit", ["app_id", "action", "facts", "at"], erasable=True),
    Rule("app_audit", "no_delete", "DELETE", "app_audit is append-only"),
    Rule("app_audit", "no_truncate", "TRUNCATE", "app_audit is append-only"),
    frozen("developer_apps", ["app_id", "mode"]),
    # what an app calls somebody is what their approvals and receipts say for ever
    frozen("app_people", ["app_id", "user_id", "pairwise_id"]),
]
