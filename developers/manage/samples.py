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
