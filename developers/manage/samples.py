"""The examples of the management addresses in the OpenAPI document."""

from typing import Any

APP_ID = "app_o7w3vq5d2ykx6bq4m2nrzj5cfe"
APP: dict[str, Any] = {
    "app_id": APP_ID,
    "mode": "test",
    "name": "Trip Planner",
    "status": "active",
    "verified": False,
    "proved_domain": None,
    "origins": [],
    "return_addresses": [],
    "role": "owner",
    "created_at": "2026-11-20T10:00:00Z",
}
APPS = {"items": [APP], "next_cursor": None}

MEMBER_ID = "mem_t2zp3gog7m6odtqhjuqhpevyku"
PREFIX = "k3J9xQ2b"
TOKEN: dict[str, Any] = {
    "prefix": PREFIX,
    "app_id": APP_ID,
    "label": "CI",
    "permissions": ["discover", "request", "read"],
    "header_only": True,
    "created_at": "2026-11-20T10:00:00Z",
    "expires_at": "2027-02-18T10:00:00Z",
    "revoked_at": None,
    "last_used_at": None,
}
MADE_TOKEN = {**TOKEN, "token": f"cr_test_{PREFIX}_…"}
REVOKED_TOKEN = {**TOKEN, "revoked_at": "2026-11-21T10:00:00Z", "last_used_at": "2026-11-21T09:00:00Z"}
TOKENS = {"items": [REVOKED_TOKEN], "next_cursor": None}
MEMBER = {"member_id": MEMBER_ID, "role": "member", "created_at": "2026-11-20T10:00:00Z"}
INVITATION = {
    "email": "ada@example.org",
    "role": "member",
    "created_at": "2026-11-20T10:00:00Z",
    "expires_at": "2026-11-27T10:00:00Z",
}
MEMBERS = {"items": [MEMBER], "next_cursor": None}
NEW_TOKEN = {"label": "CI", "permissions": ["discover", "request", "read"], "header_only": True}
