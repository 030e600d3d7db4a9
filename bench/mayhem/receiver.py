"""Where the webhooks arrive: verifies each, keeps it, and now and then pretends to be down."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

_FAILS_ONCE = 50  # every so manieth message is answered 500 the first time


class Receiver(ThreadingHTTPServer):
    """`arrived` holds each message's body by its id, as it first came; `times` how often each came."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, secret: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = secret
        self.webhook = Webhook(secret)
        self.lock = threading.Lock()
        self.arrived: dict[str, dict[str, Any]] = {}
        self.times: dict[str, int] = {}
        self.forged = 0
        self.differing = 0  # one id, two bodies
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """The status to answer with."""
        try:
            self.webhook.verify(body, headers)
        except WebhookVerificationError:
            self.forged += 1
            return 400
        name, told = headers["webhook-id"], json.loads(body)
        with self.lock:
            self.times[name] = times = self.times.get(name, 0) + 1
            if times == 1 and told["data"]["sequence"] % _FAILS_ONCE == 0:
                return 500
            if self.arrived.setdefault(name, told) != told:
                self.differing += 1
        return 204


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.take({name.lower(): value for name, value in self.headers.items()}, body)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""
