"""A stand-in for a financial aggregator: the calls that the service makes, over invented banks and purchases.

Every access is made by a person on the hosted page (`link_page.py`). Credentials come with each call, as at the real
thing, and refusals have its shape.
"""

import hashlib
import hmac
import json
import secrets
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import urllib3
from joserfc import jws
from joserfc.jwk import ECKey

from examples.neighbourhood.customers import ACCOUNTS, CUSTOMERS, INSTITUTIONS, SLOW
from examples.neighbourhood.html import STYLE_PATH, page, style, text
from examples.neighbourhood.purchases import Event, days, events_of
from examples.neighbourhood.serving import NOT_FOUND, Request, Response, json_response, redirect
from examples.neighbourhood.store import Store

_KEY_ID = "neighbourhood-1"
_http = urllib3.PoolManager(maxsize=4)


class Webhooks:
    """Sends each message once, from a thread of its own; the key is kept, so that it stays known."""

    def __init__(self, store: Store) -> None:
        store.add("webhook key", _KEY_ID, ECKey.generate_key("P-256").as_dict(private=True))
        self._key = ECKey.import_key(store.get("webhook key", _KEY_ID) or {})

    def public(self, key_id: str) -> dict[str, Any] | None:
        """The JWK of this ID; None where there is no such key."""
        named = {"kid": _KEY_ID, "alg": "ES256", "use": "sig", "created_at": 1_700_000_000, "expired_at": None}
        return {**self._key.as_dict(private=False), **named} if key_id == _KEY_ID else None

    def send(self, item: dict[str, Any], kind: str, code: str, *, after: float = 0.0, **more: Any) -> None:
        """Tell it after so many seconds, where the link named an address to tell it to."""
        if item.get("webhook"):
            notice = {"webhook_type": kind, "webhook_code": code, "item_id": item["item_id"], "environment": "sandbox"}
            body = json.dumps({**notice, **more}).encode()
            threading.Thread(target=self._send, args=(item["webhook"], body, after), daemon=True).start()

    def _send(self, address: str, body: bytes, after: float) -> None:
        time.sleep(after)
        claims = {"iat": int(time.time()), "request_body_sha256": hashlib.sha256(body).hexdigest()}
        header = {"alg": "ES256", "kid": _KEY_ID, "typ": "JWT"}
        signature = jws.serialize_compact(header, json.dumps(claims), self._key, algorithms=["ES256"])
        headers = {"Content-Type": "application/json", "Plaid-Verification": signature}
        try:
            status = _http.request("POST", address, body=body, headers=headers, timeout=10, retries=False).status
        except urllib3.exceptions.HTTPError:
            status = 0
        if status != 200:
            sys.stderr.write(f"the server took no webhook: {status}\n")


_MOST_AT_ONCE = 500
_DAYS = 90  # of history, unless the call says otherwise
_FIRST_WAVE = timedelta(days=30)
SECOND_WAVE = 20.0  # seconds after the link
_NEWS = {"login": "Want a sign-in", "ends": "Announce the end", "revoked": "End the access"}
_BOTH_COMPLETE = {"initial_update_complete": True, "historical_update_complete": True}
_LINK_LASTS = 1800  # seconds, unless the call says otherwise
_TYPES = {"ITEM": "ITEM_ERROR", "INVALID": "INVALID_INPUT", "MISSING": "INVALID_REQUEST", "NOT": "INVALID_REQUEST"}


class Refused(Exception):
    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Aggregator:
    """The program's calls; `hosted` answers the pages under /link/. `today` is for trying other days."""

    def __init__(
        self, store: Store, client_id: str, secret: str, today: Callable[[], date] = lambda: datetime.now(UTC).date(),
        second_wave: float = SECOND_WAVE,
    ) -> None:  # fmt: skip
        self._webhooks, self._second_wave = Webhooks(store), second_wave
        self._store, self._credentials, self._today = store, (client_id, secret), today
        self.address = ""  # where its pages are, once it is served
        self.hosted: Callable[[Request], Response] = lambda _: NOT_FOUND
        self._calls = {
            "/link/token/create": self.create_link,
            "/link/token/get": self.get_link,
            "/item/public_token/exchange": self.exchange,
            "/accounts/get": self.accounts,
            "/transactions/sync": self.sync,
            "/identity/get": self.identity,
            "/item/remove": self.remove,
            "/webhook_verification_key/get": self.verification_key,
        }

    def __call__(self, request: Request) -> Response:
        if request.path.startswith("/link/") and request.path not in self._calls:
            return self.hosted(request)
        if request.method == "POST" and request.path.startswith("/news/"):
            return self._simulate(request)
        if request.method == "GET":
            return style() if request.path == STYLE_PATH else self._page() if request.path == "/" else NOT_FOUND
        try:
            return json_response(200, {**self._called(request), "request_id": secrets.token_hex(8)})
        except Refused as refusal:
            return _error(refusal.code)

    def _called(self, request: Request) -> dict[str, Any]:
        call = self._calls.get(request.path)
        if call is None:
            raise Refused("NOT_FOUND")
        try:
            body = request.json
        except ValueError:
            raise Refused("INVALID_BODY") from None
        if not isinstance(body, dict):
            raise Refused("INVALID_BODY")
        given = (str(body.get("client_id")), str(body.get("secret")))
        if not all(
            hmac.compare_digest(*(each.encode() for each in pair))
            for pair in zip(given, self._credentials, strict=True)
        ):
            raise Refused("INVALID_API_KEYS")
        try:
            return call(body)
        except (KeyError, TypeError, AttributeError):
            raise Refused("MISSING_FIELDS") from None
        except (ValueError, OverflowError):
            raise Refused("INVALID_FIELD") from None

    def create_link(self, body: dict[str, Any]) -> dict[str, Any]:
        """A visit to the hosted page, for one person."""
        updates = body.get("access_token")
        if updates:
            self._kept(updates)
        if body.get("products") != (None if updates else ["transactions"]):
            raise Refused("INVALID_FIELD")
        if not body["user"]["client_user_id"] or not body["country_codes"]:
            raise Refused("INVALID_FIELD")
        token, hosted = f"link-local-{secrets.token_hex(16)}", body["hosted_link"]
        ends = datetime.now(UTC) + timedelta(seconds=int(hosted.get("url_lifetime_seconds", _LINK_LASTS)))
        link: dict[str, Any] = {
            "asks": str(body["client_name"]),
            "redirect": str(hosted["completion_redirect_uri"]),
            "identity": "identity" in body.get("additional_consented_products", []),
            "ends": ends.isoformat(),
            "days": min(max(int(body.get("transactions", {}).get("days_requested", _DAYS)), 1), 730),
            "webhook": str(body.get("webhook") or ""),
            "updates": updates,
            "sessions": [],
        }
        self._store.add("link", token, link)
        return {"link_token": token, "expiration": link["ends"], "hosted_link_url": f"{self.address}/link/{token}"}

    def get_link(self, body: dict[str, Any]) -> dict[str, Any]:
        link = self._store.get("link", body["link_token"])
        if link is None:
            raise Refused("INVALID_LINK_TOKEN")
        return {"link_token": body["link_token"], "link_sessions": link["sessions"]}

    def exchange(self, body: dict[str, Any]) -> dict[str, Any]:
        """The access token for a public token, once."""
        item = self._store.take("public", body["public_token"])
        if item is None:
            raise Refused("INVALID_PUBLIC_TOKEN")
        item["complete_at"] = time.time() + (self._second_wave if item["institution"] == SLOW else 0.0)
        token = f"access-local-{secrets.token_hex(16)}"
        self._store.add("item", token, item)
        if item["complete_at"] > time.time():
            after = item["complete_at"] - time.time()
            self._webhooks.send(item, "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", after=after, **_BOTH_COMPLETE)
        return {"access_token": token, "item_id": item["item_id"]}

    def accounts(self, body: dict[str, Any]) -> dict[str, Any]:
        item = self._item(body)
        institution = item["institution"]
        about = {
            "item_id": item["item_id"],
            "institution_id": institution,
            "institution_name": INSTITUTIONS[institution],
        }
        return {"accounts": _accounts(item), "item": about}

    def sync(self, body: dict[str, Any]) -> dict[str, Any]:
        """What happened since `cursor`, which is a day and how many of its events are known: `2026-11-01.3`.

        While the history is incomplete it begins a month ago; such a cursor is `~2026-11-01.3`, and gets what is older
        once that is there: `~2026-11-01.3~2026-05-01.2`.
        """
        item, cursor = self._item(body), str(body.get("cursor") or "")
        is_complete = item.get("complete_at", 0.0) <= time.time()
        most = min(max(int(body.get("count", 100)), 1), _MOST_AT_ONCE)
        first, recent = date.fromisoformat(item["first"]), date.fromisoformat(item.get("recent", item["first"]))
        lacks_older = cursor.startswith("~") or not (cursor or is_complete)
        newest, _, older = cursor.removeprefix("~").partition("~")
        found: list[Event] = []
        more = False
        if lacks_older and is_complete:
            found, older, more = self._events(item, older or f"{first}.0", most, last=recent - timedelta(days=1))
            # what was pending before the first wave was booked within it
            found, lacks_older = [(kind, {**one, "pending": False}) for kind, one in found], more
        if not more:
            newest = newest or f"{recent if lacks_older else first}.0"
            then, newest, more = self._events(item, newest, most - len(found), last=self._today())
            found += then
        cursor = f"~{newest}{f'~{older}' if older else ''}" if lacks_older else newest
        shown: dict[str, Any] = {kind: [one for was, one in found if was == kind] for kind in ("added", "modified")}
        return {
            **shown, "removed": [], "accounts": _accounts(item), "next_cursor": cursor, "has_more": more,
            "transactions_update_status": f"{'HISTORICAL' if is_complete else 'INITIAL'}_UPDATE_COMPLETE",
        }  # fmt: skip

    def identity(self, body: dict[str, Any]) -> dict[str, Any]:
        """Who the bank says its customer is; only where the person agreed to that on the hosted page."""
        item = self._item(body)
        if not item["identity"]:
            raise Refused("ACCESS_NOT_GRANTED")
        customer = CUSTOMERS[item["customer"]]
        place = {"street": customer.street, "city": customer.city, "country": "DE"}
        owner = {
            "names": [customer.name],
            "emails": [{"data": customer.email, "primary": True, "type": "primary"}],
            "phone_numbers": [{"data": customer.phone, "primary": True, "type": "mobile"}],
            "addresses": [{"data": place, "primary": True}],
        }
        return {"accounts": [{**account, "owners": [owner]} for account in _accounts(item)]}

    def remove(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._store.take("item", str(body["access_token"])) is None:
            raise Refused("ITEM_NOT_FOUND")
        return {}

    def verification_key(self, body: dict[str, Any]) -> dict[str, Any]:
        key = self._webhooks.public(body["key_id"])
        if key is None:
            raise Refused("INVALID_WEBHOOK_VERIFICATION_KEY_ID")
        return {"key": key}

    def _kept(self, token: Any) -> dict[str, Any]:
        item = self._store.get("item", str(token))
        if item is None:
            raise Refused("ITEM_NOT_FOUND")
        return item

    def _item(self, body: dict[str, Any]) -> dict[str, Any]:
        item = self._kept(body["access_token"])
        if item.get("login"):
            raise Refused("ITEM_LOGIN_REQUIRED")
        return item

    def _simulate(self, request: Request) -> Response:
        """What the page's buttons make of an item, as its institution would."""
        token, item = next(
            (pair for pair in self._store.named("item") if pair[1]["item_id"] == request.path.removeprefix("/news/")),
            ("", None),
        )
        match request.form.get("news", [""])[0]:
            case _ if item is None:
                return NOT_FOUND
            case "login":
                self._store.change("item", token, {**item, "login": True})
                error = {"error_type": "ITEM_ERROR", "error_code": "ITEM_LOGIN_REQUIRED"}
                self._webhooks.send(item, "ITEM", "ERROR", error=error)
            case "ends":
                ends_at = (datetime.now(UTC) + timedelta(days=7)).isoformat(timespec="seconds")
                self._webhooks.send(item, "ITEM", "PENDING_EXPIRATION", consent_expiration_time=ends_at)
            case "revoked":
                self._store.take("item", token)
                self._webhooks.send(item, "ITEM", "USER_PERMISSION_REVOKED")
        return redirect("/")

    def _events(self, item: dict[str, Any], cursor: str, most: int, *, last: date) -> tuple[list[Event], str, bool]:
        try:
            written, _, known = cursor.partition(".")
            day, done = date.fromisoformat(written), int(known)
        except ValueError:
            raise Refused("INVALID_FIELD") from None
        found: list[Event] = []
        for at in days(max(day, date.fromisoformat(item["first"])), last):
            events = [(kind, _at(item, one)) for kind, one in events_of(item["seed"], item["customer"], at)]
            start = done if at == day else 0
            room = most - len(found)
            found += events[start : start + room]
            cursor = f"{at.isoformat()}.{min(start + room, max(start, len(events)))}"
            if len(events) - start > room:
                return found, cursor, True
        return found, cursor, False

    def _page(self) -> Response:
        customers = "".join(f"<li>{text(name)}: {text(one.name)}</li>" for name, one in CUSTOMERS.items())
        body = (
            "<p>A stand-in for a financial aggregator with invented banks. Link one in the service, at its page of "
            "linked institutions, which leads here. Sign in with anything; these names are certain customers:</p>"
            f"<ul>{customers}</ul>"
            f"{''.join(_buttons(item) for _token, item in self._store.named('item'))}"
        )
        return page("Aggregator", body)


def new_item(
    *, institution: str, name: str, customer: str, accounts: list[str], link: dict[str, Any], today: date
) -> dict[str, Any]:
    """What the hosted page hands over once somebody agreed; the history begins as many days ago as the link asked."""
    return {
        "item_id": f"item-local-{secrets.token_hex(8)}",
        "institution": institution,
        "customer": customer,
        "seed": f"{institution}-{name.strip().casefold()}",
        "accounts": accounts,
        "identity": bool(link["identity"]),
        "webhook": link["webhook"],
        "first": (today - timedelta(days=link["days"])).isoformat(),
        "recent": (today - _FIRST_WAVE).isoformat(),
    }


def _buttons(item: dict[str, Any]) -> str:
    named = f"{text(INSTITUTIONS[item['institution']])}, {text(CUSTOMERS[item['customer']].name)}"
    buttons = " ".join(f'<button name="news" value="{key}">{words}</button>' for key, words in _NEWS.items())
    return f'<form method="post" action="/news/{item["item_id"]}"><p>{named}</p>{buttons}</form>'


def _accounts(item: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"account_id": _account_id(item, one.key), **one.shown} for one in ACCOUNTS if one.key in item["accounts"]]


def _account_id(item: dict[str, Any], key: str) -> str:
    return f"acc-{item['institution']}-{item['customer']}-{key}"


def _at(item: dict[str, Any], transaction: dict[str, Any]) -> dict[str, Any]:
    return {**transaction, "account_id": _account_id(item, item["accounts"][0])}


def _error(code: str) -> Response:
    kind = _TYPES.get(code.split("_")[0], "ITEM_ERROR" if code == "ACCESS_NOT_GRANTED" else "INVALID_INPUT")
    error = {
        "error_type": kind, "error_code": code, "error_message": code.lower().replace("_", " "),
        "display_message": None, "request_id": secrets.token_hex(8),
    }  # fmt: skip
    return json_response(404 if code == "NOT_FOUND" else 400, error)
