"""The management addresses as a table, for the tests that hold for all of them."""

from dataclasses import dataclass, field
from typing import Any

import orjson
from django.http import HttpResponse

from tests.callers import JsonClient


@dataclass(frozen=True)
class Address:
    """One operation: where under `/api/v1/manage`, how, and what a call sends that gets as far as the app."""

    method: str
    path: str
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def permission(self) -> str:
        return "read" if self.method == "GET" else "write"

    def call(self, caller: JsonClient, *, method: str = "", suffix: str = "", **sent: Any) -> HttpResponse:
        body = sent.pop("body", orjson.dumps(self.body) if self.method in ("POST", "PATCH") else b"")
        return caller.send(method or self.method, self.path + suffix, body, **sent)


_ENDPOINT = "/apps/app_unknown/webhooks/1"
ADDRESSES = [
    Address("GET", "/apps"),
    Address("GET", "/apps/app_unknown/log"),
    Address("GET", "/apps/app_unknown/webhooks"),
    Address("POST", "/apps/app_unknown/webhooks", {"url": "https://trips.example/hook"}),
    Address("PATCH", _ENDPOINT, {"enabled": False}),
    Address("DELETE", _ENDPOINT),
    Address("POST", f"{_ENDPOINT}/test"),
    Address("POST", f"{_ENDPOINT}/rotate-secret"),
    Address("GET", f"{_ENDPOINT}/deliveries"),
    Address("POST", "/deliveries/1/replay"),
    Address("POST", "/apps", {"name": "Lunch Finder"}),
    Address("GET", "/apps/app_unknown"),
    Address("PATCH", "/apps/app_unknown", {"name": "Lunch Finder"}),
    Address("GET", "/apps/app_unknown/tokens"),
    Address("POST", "/apps/app_unknown/tokens", {"label": "CI"}),
    Address("POST", "/tokens/unknown1/rotate", {"overlap": 60}),
    Address("POST", "/tokens/unknown1/revoke"),
    Address("GET", "/apps/app_unknown/members"),
    Address("POST", "/apps/app_unknown/members", {"user_id": "usr_unknown"}),
    Address("DELETE", "/apps/app_unknown/members/usr_unknown"),
]
OF_AN_APP = [address for address in ADDRESSES if "app_unknown" in address.path]


def name_of(address: Address) -> str:
    return f"{address.method} {address.path}"
