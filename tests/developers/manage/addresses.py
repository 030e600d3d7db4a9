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
    owners: bool = False  # whether a member who is no owner is refused

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
]
OF_AN_APP = [address for address in ADDRESSES if "app_unknown" in address.path]


def name_of(address: Address) -> str:
    return f"{address.method} {address.path}"
