"""A web shop that sorts its shelf by the style that a visitor likes, if the visitor lets it know.

    python examples/web_shop.py        then open http://127.0.0.1:8090/ (PORT chooses another port)

It asks for one scope by REST, shows where to decide, and reads the approved slice once. CONSENT_BASE_URL and
CONSENT_DEVELOPER_TOKEN say where and as whom. What is approved is kept for the visit and no longer.
"""

import html
import os
import secrets
from dataclasses import dataclass
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

from consent_bridge.client import Client
from consent_bridge.errors import BridgeError, Problem
from consent_bridge.results import AskedConsent
from consent_bridge.sealed import generate_connector_key

SCOPE = "attr.lifestyle.shopping.*"
STYLE = "lifestyle.shopping.fashion_style"
PURPOSE = "Show you clothes in the style that you like first"
MAX_FORM_BYTES = 4096

SHELF = (("Linen shirt", "casual"), ("Wool suit", "formal"), ("Running jacket", "sporty"), ("Silk tie", "formal"))


@dataclass
class Visit:
    """What the shop knows of one visitor."""

    asked: AskedConsent | None = None
    style: str | None = None
    note: str = ""


class Shop:
    """Asks, waits and sorts. The key is this process's own: what is approved cannot be opened elsewhere."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._key = generate_connector_key()
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
        """The visit as it stands now: a decision since the last page is taken in."""
        visit = self._visits[visitor]
        if visit.asked is not None and visit.style is None:
            self._take_in(visit, visit.asked)
        return visit

    def ask(self, visitor: str, sharing_id: str) -> None:
        """Ask this person for one scope, and within it for one attribute only."""
        visit = self.visit(visitor)
        try:
            visit.asked = self._client.request_consent(
                sharing_id, SCOPE, purpose=PURPOSE, key=self._key, access_duration=3600, optional_attributes=[STYLE]
            )
            visit.style, visit.note = None, "Please decide in your consent app."
        except Problem as problem:
            visit.note = f"That did not work: {problem.code}"

    def forget(self, visitor: str) -> None:
        """Give the approval back."""
        visit = self._visits.pop(visitor)
        if visit.asked is not None:
            self._client.end(visit.asked.request_id)

    def _take_in(self, visit: Visit, asked: AskedConsent) -> None:
        status = self._client.status(asked.request_id)
        if status.status == "approved" and status.grant is not None and status.grant.status == "active":
            opened = self._client.read(asked, self._key)
            visit.style = str(opened.data.get("lifestyle", {}).get("shopping", {}).get("fashion_style", ""))
            visit.note = "Sorted by what you like."
        elif status.status != "pending":
            visit.asked, visit.note = None, "No problem: here is our shelf as it is."


def page(visit: Visit) -> str:
    """The shop's one page."""
    shelf = sorted(SHELF, key=lambda item: item[1] != (visit.style or "").casefold())
    items = "".join(f"<li>{html.escape(name)}</li>" for name, _ in shelf)
    if visit.asked is None:
        form = (
            '<form method="post" action="/ask"><label>Your sharing ID <input name="sharing_id" required></label> '
            "<button>Sort by my style</button></form>"
        )
    else:
        link = html.escape(visit.asked.approval_url, quote=True)
        form = (
            f'<p><a href="{link}" rel="noreferrer">Decide in the consent app</a></p>'
            '<form method="post" action="/forget"><button>Forget me</button></form>'
        )
    note = f"<p>{html.escape(visit.note)}</p>"
    return f'<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>{note}<ul>{items}</ul>{form}</html>'


class Counter(BaseHTTPRequestHandler):
    """The shop's addresses: `/`, `/ask` and `/forget`."""

    server: "ShopServer"

    def do_GET(self) -> None:
        """Show the page."""
        if self.path != "/":
            self.send_error(404)
            return
        visitor = self._visitor()
        try:
            visit = self.server.shop.visit(visitor) if visitor else Visit()
        except BridgeError:
            self.send_error(503, "The consent service cannot be reached")
            return
        body = page(visit).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Ask or forget, then show the page."""
        length = int(self.headers.get("Content-Length") or 0)
        if self.path not in ("/ask", "/forget") or not 0 <= length <= MAX_FORM_BYTES:
            self.send_error(404)
            return
        form = parse_qs(self.rfile.read(length).decode("utf-8", "replace"))
        if self.headers.get("Origin") not in self.server.origins:
            self.send_error(403, "Use the form on this shop's own page")  # browsers name the page that posts
            return
        shop, visitor = self.server.shop, self._visitor()
        try:
            if self.path == "/ask":
                visitor = visitor or shop.begin()
                shop.ask(visitor, form.get("sharing_id", [""])[0].strip())
            elif visitor:
                shop.forget(visitor)
        except BridgeError:
            self.send_error(503, "The consent service cannot be reached")
            return
        self.send_response(303)
        if self.path == "/ask":
            self.send_header("Set-Cookie", f"visitor={visitor}; HttpOnly; SameSite=Lax; Path=/")
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _visitor(self) -> str | None:
        """Whose visit this is; None before the first question, and for a cookie that is not ours."""
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("visitor")
        return cookie.value if cookie and self.server.shop.knows(cookie.value) else None


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
