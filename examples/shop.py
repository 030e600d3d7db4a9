"""A web shop with a "Share with" button: one click there, one tap in the consent app, and the shelf is sorted by taste.

    python examples/shop.py        then open http://127.0.0.1:8090/ (PORT chooses another port)

It begins a connection on which one request rides, sends the visitor away, takes the code of the return only in the
visit that began, and opens what was approved with its own key. CONSENT_BASE_URL and CONSENT_DEVELOPER_TOKEN say where
and as whom; `http://127.0.0.1:8090` must be one of the app's origins. What is approved is kept for the visit and no
longer.
"""

import html
import os
import secrets
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from consent_bridge.client import Client
from consent_bridge.errors import BridgeError, Problem
from consent_bridge.results import MadeRequest
from consent_bridge.sealed import generate_connector_key

SCOPE = "attr.lifestyle.shopping.*"
STYLE = "lifestyle.shopping.fashion_style"
PURPOSE = "Show you clothes in the style that you like first"
MAX_FORM_BYTES = 4096

SHELF = (("Linen shirt", "casual"), ("Wool suit", "formal"), ("Running jacket", "sporty"), ("Silk tie", "formal"))


@dataclass
class Visit:
    """What the shop knows of one visitor: the connections that this very visit began, and what came of one."""

    begun: set[str] = field(default_factory=set)
    request: MadeRequest | None = None
    style: str | None = None
    note: str = ""


class Shop:
    """Connects, reads and sorts. The key is this process's own: what is approved cannot be opened elsewhere."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._key = generate_connector_key()
        self._request = client.request_along(
            SCOPE, purpose=PURPOSE, key=self._key, access_duration=3600, optional_attributes=[STYLE]
        )
        self._visits: dict[str, Visit] = {}

    def knows(self, visitor: str) -> bool:
        """Whether this shop made up that name itself: one that a stranger chose must not become anybody's."""
        return visitor in self._visits

    def begin(self) -> str:
        """The name of a new visit, which nobody can guess."""
        visitor = secrets.token_urlsafe(24)
        self._visits[visitor] = Visit()
        return visitor

    def visit(self, visitor: str) -> Visit:
        return self._visits[visitor]

    def share(self, visitor: str, back: str) -> str:
        """Where to send this visitor, who comes back to `back`."""
        made = self._client.begin_connection(return_url=back, request=self._request)
        self._visits[visitor].begun.add(made.connection_id)
        return made.connect_url or made.code_url

    def take_in(self, visitor: str, back: str, returned: dict[str, list[str]]) -> None:
        """What the consent app sent them back with. A code that another visit's connection leads to is left alone."""
        visit = self._visits[visitor]
        connection_id, code = (returned.get(name, [""])[0] for name in ("connection_id", "connection_code"))
        if connection_id not in visit.begun:
            visit.note = "That did not begin in this visit. If somebody sent you here, nothing was shared with us."
            return
        visit.begun.discard(connection_id)
        visit.note = "No problem: here is our shelf as it is."
        if not code:
            return
        connection = self._client.complete_connection(connection_id, code, request=self._request, return_url=back)
        if connection.request is None:
            visit.note = "Connected. You have not said yet what you like to wear."
            return
        visit.request = connection.request
        if self._client.status(visit.request.request_id).status == "approved":
            opened = self._client.read(visit.request, self._key)
            visit.style = str(opened.data.get("lifestyle", {}).get("shopping", {}).get("fashion_style", ""))
            visit.note = "Sorted by what you like."

    def forget(self, visitor: str) -> None:
        """End the connection, and with it what was shared."""
        visit = self._visits.pop(visitor)
        if visit.request is not None:
            self._client.end_connection(visit.request.user_id)


def page(visit: Visit) -> str:
    shelf = sorted(SHELF, key=lambda item: item[1] != (visit.style or "").casefold())
    items = "".join(f"<li>{html.escape(name)}</li>" for name, _ in shelf)
    button = "<button>Share with this shop</button>" if visit.request is None else "<button>Forget me</button>"
    form = f'<form method="post" action="/{"share" if visit.request is None else "forget"}">{button}</form>'
    note = f"<p>{html.escape(visit.note)}</p>"
    return f'<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>{note}<ul>{items}</ul>{form}</html>'


class Counter(BaseHTTPRequestHandler):
    """The shop's addresses: `/`, `/share`, `/back` and `/forget`."""

    server: "ShopServer"

    def do_GET(self) -> None:
        """Show the page, or take in what a visitor came back with and then show it."""
        address, visitor = urlsplit(self.path), self._visitor()
        if address.path == "/back":
            self._back(visitor, parse_qs(address.query))
            return
        if address.path != "/":
            self.send_error(404)
            return
        body = page(self.server.shop.visit(visitor) if visitor else Visit()).encode()
        self._answer(200, {"Content-Type": "text/html; charset=utf-8"}, body)

    def do_POST(self) -> None:
        """Send the visitor to the consent app, or forget them."""
        length = int(self.headers.get("Content-Length") or 0)
        if self.path not in ("/share", "/forget") or not 0 <= length <= MAX_FORM_BYTES:
            self.send_error(404)
            return
        self.rfile.read(length)
        if self.headers.get("Origin") not in self.server.origins:
            self.send_error(403, "Use the form on this shop's own page")  # browsers name the page that posts
            return
        shop, visitor = self.server.shop, self._visitor()
        try:
            if self.path == "/share":
                visitor = visitor or shop.begin()
                link = shop.share(visitor, self._own_address())
                cookie = f"visitor={visitor}; HttpOnly; SameSite=Lax; Path=/"
                self._answer(303, {"Location": link, "Set-Cookie": cookie})
                return
            if visitor:
                shop.forget(visitor)
        except BridgeError as failure:
            self._failed(failure)
            return
        self._answer(303, {"Location": "/"})

    def _back(self, visitor: str | None, returned: dict[str, list[str]]) -> None:
        shop = self.server.shop
        headers = {"Location": "/"}
        if visitor is None:  # somebody else began it: this browser gets a visit of its own, which knows of nothing
            visitor = shop.begin()
            headers["Set-Cookie"] = f"visitor={visitor}; HttpOnly; SameSite=Lax; Path=/"
        try:
            shop.take_in(visitor, self._own_address(), returned)
        except BridgeError as failure:
            self._failed(failure)
            return
        self._answer(303, headers)

    def _failed(self, failure: BridgeError) -> None:
        code = failure.code if isinstance(failure, Problem) else "the service cannot be reached"
        self.send_error(503, f"That did not work: {code}")

    def _own_address(self) -> str:
        return f"{self.server.origins[0]}/back"

    def _answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Referrer-Policy": "same-origin"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _visitor(self) -> str | None:
        """Whose visit this is; None before the first click, and for a cookie that is not ours."""
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("visitor")
        return cookie.value if cookie and self.server.shop.knows(cookie.value) else None

    def log_message(self, *_: Any) -> None:
        """Nothing: the address of a return holds its code."""


class ShopServer(HTTPServer):
    """One customer at a time, which is how a client is used as well."""

    def __init__(self, port: int, shop: Shop) -> None:
        super().__init__(("127.0.0.1", port), Counter)
        self.shop = shop
        self.origins = tuple(f"http://{host}:{self.server_port}" for host in ("127.0.0.1", "localhost"))


def main() -> None:
    """Serve until Ctrl-C."""
    with Client(os.environ["CONSENT_BASE_URL"], os.environ["CONSENT_DEVELOPER_TOKEN"]) as client:
        server = ShopServer(int(os.environ.get("PORT", "8090")), Shop(client))
        print(f"Open http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
