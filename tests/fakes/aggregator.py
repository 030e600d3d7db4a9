"""A financial aggregator on this machine: its addresses, pages, cursors, errors and hosted page, over real HTTP.

Every change of an item gets a place in its history; a cursor is a place, so pages of any size, changes between them
and transactions that went again come out as at the real thing.
"""

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey

from tests.fakes.serving import Answering, serving

_HOSTED_PAGE = (
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Choose your bank</title>'
    '<a href="@/link">First Bank of Tests</a> <a href="@/leave">Leave</a></html>'
)
CLIENT_ID, SECRET = "client-of-tests", "secret-of-tests"
_TYPES = {"ITEM": "ITEM_ERROR", "INVALID": "INVALID_INPUT", "TRANSACTIONS": "TRANSACTIONS_ERROR"}
_ACCOUNTS = [
    {
        "account_id": "acc-1", "name": "Everyday", "official_name": "Everyday Checking", "mask": "0042",
        "type": "depository", "subtype": "checking", "balances": {"available": 1042.5, "current": 1100.0},
    }
]  # fmt: skip


def transaction(name: str, merchant: str | None, detailed: str, day: str, **other: Any) -> dict[str, Any]:
    """One as the aggregator writes it; `amount` is positive for money out."""
    primaries = ("FOOD_AND_DRINK", "GENERAL_MERCHANDISE", "HOME_IMPROVEMENT", "PERSONAL_CARE", "RENT_AND_UTILITIES",
                 "TRANSFER_OUT", "GENERAL_SERVICES")  # fmt: skip
    primary = next((known for known in primaries if detailed.startswith(known)), detailed.split("_")[0])
    confidence = other.pop("confidence", "VERY_HIGH")
    return {
        "transaction_id": name, "account_id": "acc-1", "amount": 12.5, "iso_currency_code": "USD", "date": day,
        "authorized_date": day, "name": f"POS {merchant} 4711 ZOE DOE", "merchant_name": merchant,
        "counterparties": [{"name": merchant, "type": "merchant", "confidence_level": "HIGH"}] if merchant else [],
        "location": {"city": "Poway", "address": "1 Secret Road"}, "payment_channel": "in store", "pending": False,
        "personal_finance_category": {"primary": primary, "detailed": detailed, "confidence_level": confidence},
        **other,
    }  # fmt: skip


@dataclass
class Item:
    """`history` is what happened, in its order: ("added" | "modified" | "removed", transaction or its ID)."""

    item_id: str
    history: list[tuple[str, Any]] = field(default_factory=list)
    institution_name: str = "First Bank of Tests"
    ready: bool = True
    removed: bool = False
    older: list[dict[str, Any]] | None = None  # the second wave, until `backfill`

    def backfill(self) -> None:
        """The rest of the history is there, in no order that a cursor could tell."""
        self.history += [("added", each) for each in self.older or []]
        self.older = None


@dataclass
class Aggregator:
    """`fails[path]` are answers that come first: an error code, a status, seconds to wait, bytes, or a callable.

    `bought` are the transactions of whoever links on the hosted page.
    """

    page_size: int = 100
    address: str = ""
    items: dict[str, Item] = field(default_factory=dict)
    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, tuple[ECKey, int | None]] = field(default_factory=dict)
    publics: dict[str, str] = field(default_factory=dict)
    fails: dict[str, list[Any]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    bought: list[dict[str, Any]] = field(default_factory=list)
    ends: threading.Event = field(default_factory=threading.Event)

    def settings(self, **other: Any) -> dict[str, Any]:
        base = {"url": self.address, "client_id": CLIENT_ID, "secret": SECRET, "name": "Tests", "countries": ["US"]}
        return {**base, "days": 730, "timeout": 25, **other}

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.calls]

    def item(self, *transactions: dict[str, Any]) -> tuple[str, Item]:
        """A new item with these transactions, and its access token."""
        token, made = f"access-sandbox-{secrets.token_hex(8)}", Item(f"item-{secrets.token_hex(6)}")
        made.history = [("added", each) for each in transactions]
        self.items[token] = made
        return token, made

    def visit(self, url: str, *transactions: dict[str, Any], leave: bool = False) -> str:
        """What a person does on the hosted page; the address that their browser is sent back to."""
        link = self.links[url.rsplit("/", 1)[-1]]
        results: list[dict[str, Any]] = []
        if not leave and not link["updates"]:
            token, _ = self.item(*transactions)
            public = f"public-sandbox-{secrets.token_hex(8)}"
            self.publics[public] = token
            results = [{"public_token": public, "institution": {"name": "First Bank of Tests"}, "accounts": []}]
        link["sessions"].append(
            {
                "link_session_id": "s",
                "finished_at": "2026-11-20T10:00:00Z",
                "exit": {"error": None} if leave else None,
                "results": {"item_add_results": results},
            }
        )
        return str(link["redirect"])

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.calls.append((path, body))
        waiting = self.fails.get(path)
        if waiting:
            fault = waiting.pop(0)
            if callable(fault):
                fault = fault()
            if isinstance(fault, str):
                return error(fault)
            if isinstance(fault, float):
                self.ends.wait(fault)
            elif isinstance(fault, int):
                return fault, {"nothing": "known"}
            elif isinstance(fault, bytes):
                return 200, fault
        if (body.get("client_id"), body.get("secret")) != (CLIENT_ID, SECRET):
            return error("INVALID_API_KEYS")
        if path in _OF_AN_ITEM:
            item = self.items.get(body.get("access_token", ""))
            return error("ITEM_NOT_FOUND") if item is None or item.removed else _OF_AN_ITEM[path](self, body, item)
        handler = _HANDLERS.get(path)
        return handler(self, body) if handler else (404, {"error_type": "INVALID_REQUEST", "error_code": "NOT_FOUND"})

    def create_link(self, body: dict[str, Any]) -> tuple[int, Any]:
        updates = body.get("access_token")
        wanted = {"client_name", "language", "country_codes", "user", "hosted_link"}
        if wanted - body.keys() or ("products" in body) == bool(updates) or "client_user_id" not in body["user"]:
            return error("MISSING_FIELDS")
        if updates and (updates not in self.items or self.items[updates].removed):
            return error("ITEM_NOT_FOUND")
        token = f"link-sandbox-{secrets.token_hex(8)}"
        self.links[token] = {
            "redirect": body["hosted_link"]["completion_redirect_uri"],
            "sessions": [],
            "updates": updates,
        }
        return 200, {
            "link_token": token, "expiration": "2026-11-20T12:00:00Z", "request_id": "r1",
            "hosted_link_url": f"{self.address}/hl/{token}",
        }  # fmt: skip

    def get_link(self, body: dict[str, Any]) -> tuple[int, Any]:
        link = self.links.get(body["link_token"])
        if link is None:
            return error("INVALID_LINK_TOKEN")
        return 200, {"link_token": body["link_token"], "link_sessions": link["sessions"], "request_id": "r2"}

    def exchange(self, body: dict[str, Any]) -> tuple[int, Any]:
        token = self.publics.pop(body["public_token"], None)
        if token is None:
            return error("INVALID_PUBLIC_TOKEN")
        return 200, {"access_token": token, "item_id": self.items[token].item_id, "request_id": "r3"}

    def accounts(self, body: dict[str, Any], item: Item) -> tuple[int, Any]:
        about = {"item_id": item.item_id, "institution_id": "ins_3", "institution_name": item.institution_name}
        return 200, {"accounts": _ACCOUNTS, "item": about, "request_id": "r4"}

    def sync(self, body: dict[str, Any], item: Item) -> tuple[int, Any]:
        page: dict[str, Any] = {"added": [], "modified": [], "removed": [], "accounts": _ACCOUNTS, "request_id": "r5"}
        if not item.ready:
            return 200, {**page, "next_cursor": "", "has_more": False, "transactions_update_status": "NOT_READY"}
        start = int(body.get("cursor", "at-0").removeprefix("at-"))
        size = min(body.get("count", 100), self.page_size)
        for kind, what in item.history[start : start + size]:
            page[kind].append({"transaction_id": what, "account_id": "acc-1"} if kind == "removed" else what)
        end = min(start + size, len(item.history))
        status = "HISTORICAL_UPDATE_COMPLETE" if item.older is None else "INITIAL_UPDATE_COMPLETE"
        return 200, {
            **page, "next_cursor": f"at-{end}", "has_more": end < len(item.history),
            "transactions_update_status": status,
        }  # fmt: skip

    def key(self, body: dict[str, Any]) -> tuple[int, Any]:
        kept = self.keys.get(body["key_id"])
        if kept is None:
            return error("INVALID_WEBHOOK_VERIFICATION_KEY_ID")
        key, expired_at = kept
        named = {"kid": body["key_id"], "alg": "ES256", "use": "sig", "created_at": 1, "expired_at": expired_at}
        return 200, {"key": {**key.as_dict(private=False), **named}, "request_id": "r8"}

    def signature(self, body: bytes, *, key_id: str = "key-1", age: int = 0, **claims: Any) -> str:
        """What the header of a webhook with this body holds; the key is made when its first message is signed."""
        key, _ = self.keys.setdefault(key_id, (ECKey.generate_key("P-256"), None))
        statement = {"iat": int(time.time()) - age, "request_body_sha256": hashlib.sha256(body).hexdigest(), **claims}
        header = {"alg": "ES256", "kid": key_id, "typ": "JWT"}
        return jws.serialize_compact(header, json.dumps(statement), key, algorithms=["ES256"])

    def identity(self, body: dict[str, Any], item: Item) -> tuple[int, Any]:
        owner = {
            "names": ["Zoe Doe"],
            "emails": [{"data": "zoe@example.org", "primary": True, "type": "primary"}],
            "phone_numbers": [{"data": "+4915112345678", "primary": True, "type": "mobile"}],
            "addresses": [{"data": {"street": "1 Main", "city": "Poway", "region": None}, "primary": True}],
        }
        return 200, {"accounts": [{**_ACCOUNTS[0], "owners": [owner, owner]}], "request_id": "r6"}

    def remove(self, body: dict[str, Any], item: Item) -> tuple[int, Any]:
        item.removed = True
        return 200, {"request_id": "r7"}


_HANDLERS = {
    "/link/token/create": Aggregator.create_link,
    "/link/token/get": Aggregator.get_link,
    "/item/public_token/exchange": Aggregator.exchange,
    "/webhook_verification_key/get": Aggregator.key,
}
_OF_AN_ITEM = {
    "/accounts/get": Aggregator.accounts,
    "/transactions/sync": Aggregator.sync,
    "/identity/get": Aggregator.identity,
    "/item/remove": Aggregator.remove,
}


def error(code: str) -> tuple[int, dict[str, Any]]:
    """An error in the aggregator's shape; its message quotes what was sent, as such messages do."""
    kind = _TYPES.get(code.split("_")[0], "API_ERROR")
    status = 429 if code == "RATE_LIMIT_EXCEEDED" else 500 if kind == "API_ERROR" else 400
    message = "provided access-sandbox-leak is not right"
    return status, {
        "error_type": kind, "error_code": code, "error_message": message, "display_message": None, "request_id": "r0",
    }  # fmt: skip


@contextmanager
def aggregating(**fields: Any) -> Iterator[Aggregator]:
    """A stand-in on a port of its own, gone afterwards."""
    stand_in = Aggregator(**fields)

    class Handler(Answering):
        protocol_version = "HTTP/1.1"

        def post(self) -> None:
            status, answer = stand_in.answer(self.path, json.loads(self.body()))
            written = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.answer(status, written, {"Content-Type": "application/json"})

        def get(self) -> None:
            """The hosted page: /hl/<token>, whose two ways out are /hl/<token>/link and /hl/<token>/leave."""
            page, _, way = self.path.removeprefix("/hl/").partition("/")
            if page not in stand_in.links:
                self.send_error(404)
            elif way:
                back = stand_in.visit(page, *stand_in.bought, leave=way == "leave")
                self.answer(302, headers={"Location": back})
            else:
                self.answer(200, _HOSTED_PAGE.replace("@", self.path).encode(), {"Content-Type": "text/html"})

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as stand_in.address:
        try:
            yield stand_in
        finally:
            stand_in.ends.set()
