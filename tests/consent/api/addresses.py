"""The developers' addresses as a table, for the tests that hold for all of them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from accounts.models import User
from consent_bridge import sealed
from tests.callers import JsonClient
from tests.factories import invitation_of

CONNECTOR = sealed.generate_connector_key()
ANOTHERS = {"connector_public_key": sealed.public_half(sealed.generate_connector_key())}  # a key belongs to one app
FOOD = "attr.lifestyle.food.*"


@dataclass(frozen=True)
class Address:
    """One operation: where, how, and what its token must carry one of."""

    name: str
    method: str
    path: str
    permissions: frozenset[str]

    def call(self, caller: JsonClient, *, method: str | None = None, suffix: str = "", **sent: Any) -> HttpResponse:
        """A call that gets as far as the address's own work, which finds nothing to do."""
        body = sent.pop("body", b'{"request_id": "req_unknown"}' if self.method == "POST" else b"")
        return caller.send(method or self.method, self.path + suffix, body, **sent)


_DISCOVER, _REQUEST, _READ = frozenset({"discover"}), frozenset({"request"}), frozenset({"read"})

ADDRESSES = [
    Address("user-scopes", "GET", "/user-scopes/usr_unknown", _DISCOVER),
    Address("scope-catalog", "GET", "/scope-catalog", _DISCOVER),
    Address("request-consent", "POST", "/request-consent", _REQUEST),
    Address("consent-status", "GET", "/consent-status?request_id=req_unknown", _REQUEST | _READ),
    Address("end-consent", "POST", "/end-consent", _REQUEST),
    Address("consent-requests", "GET", "/consent-requests", _REQUEST | _READ),
    Address("consent-events", "GET", "/consent-events", _REQUEST | _READ),
    Address("consent-export", "GET", "/consent-export?request_id=req_unknown", _READ),
    Address("receipt", "GET", "/receipts/rct_unknown", _READ),
]
POSTS = [address for address in ADDRESSES if address.method == "POST"]
OPEN = ["/.well-known/consent-keys.json", "/.well-known/consent-checkpoint.json", "/api/schema/"]


def name_of(address: Address) -> str:
    return address.name


def request_body(person: User, **changes: Any) -> dict[str, Any]:
    """A body of request-consent that fits; a change to `...` leaves the member out.

    The person is named by their sharing ID, as by an app that never met them; one app alone can.
    """
    body = {
        "user_id": invitation_of(person) if person.pk else person.public_id,
        "scope": FOOD,
        "purpose": "Suggest restaurants that you would like",
        "connector_public_key": sealed.public_half(CONNECTOR),
        "connector_key_id": "trip-planner-1",
        "connector_wrapping_alg": "ECDH-ES+A256KW",
        **changes,
    }
    return {name: value for name, value in body.items() if value is not ...}


def problem(answer: HttpResponse) -> tuple[int, str]:
    """Status and code of a refusal, which is problem details and nothing else."""
    assert answer["Content-Type"] == "application/problem+json", answer.content
    body = answer.json()
    assert body["type"] == f"/docs/errors#{body['code']}"
    assert body["status"] == answer.status_code
    assert body["trace_id"] == answer["X-Request-Id"]
    assert {"title", "detail"} <= set(body)
    return answer.status_code, body["code"]
