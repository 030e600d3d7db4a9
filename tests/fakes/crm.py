"""A real receiver on loopback for the brand affinity that people send to a destination."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook


class Crm(BaseHTTPRequestHandler):
    """Keeps what it gets, with its `webhook-id`, and checks its signature; a status of 0 is no answer at all."""

    status = 204
    secret: str  # of the destination that names it
    url: str
    got: list[dict[str, Any]]
    ids: list[str]
    bodies: list[bytes]
    go_on: threading.Event

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).got.append(Webhook(self.secret).verify(body, dict(self.headers)))
        type(self).ids.append(self.headers["webhook-id"])
        type(self).bodies.append(body)
        self.go_on.wait(60)
        if self.status:
            self.send_response(self.status)
            self.end_headers()

    def handle(self) -> None:
        with suppress(ConnectionError):  # whoever sent may wait no longer
            super().handle()

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def running_crm() -> Iterator[type[Crm]]:
    """One that listens until the block ends; whoever makes its destination tells it the secret."""
    handler = type("OneCrm", (Crm,), {"got": [], "ids": [], "bodies": [], "go_on": threading.Event()})
    handler.go_on.set()
    server = HTTPServer(("127.0.0.1", 0), handler)
    handler.url = f"http://127.0.0.1:{server.server_address[1]}/in"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()
