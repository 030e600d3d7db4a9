"""How apps come to hear of events: by a stream that resumes where it was, and by webhooks."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from bench.staging import StagedApp

_SILENCE = 20  # seconds without even a comment after which the stream is taken for dead
_FAILS_ONCE = 50  # every so manieth message is answered 500 the first time


class Follower(threading.Thread):
    """The stream of one app. `events` are (sequence, status body) as they came, across every resumption."""

    def __init__(self, site: str, app: StagedApp) -> None:
        super().__init__(daemon=True)
        self.address, self.app = f"{site}/api/v1/consent-events", app
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.resumed = -1
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            self.resumed += 1
            try:
                self._follow()
            except (requests.RequestException, ValueError, AttributeError):
                time.sleep(0.2)

    def _follow(self) -> None:
        last = str(self.events[-1][0] if self.events else 0)
        headers = {"Authorization": f"Bearer {self.app.token}", "Last-Event-ID": last}
        with requests.get(self.address, headers=headers, stream=True, timeout=(3, _SILENCE)) as answer:
            if answer.status_code != 200:
                raise requests.ConnectionError
            number = 0
            for line in answer.iter_lines(chunk_size=1):
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    self.events.append((number, json.loads(line[6:])))
                if self.over.is_set():
                    return


def following(site: str, apps: list[StagedApp]) -> list[Follower]:
    """One for each app, at it."""
    followers = [Follower(site, app) for app in apps]
    for follower in followers:
        follower.start()
    return followers


class Receiver(ThreadingHTTPServer):
    """Where webhooks arrive: verifies each, keeps it, and now and then pretends to be down.

    `arrived` holds each message's body by its id, as it first came; `times` how often each came.
    """

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
        name, notice = headers["webhook-id"], json.loads(body)
        with self.lock:
            self.times[name] = times = self.times.get(name, 0) + 1
            if times == 1 and notice["data"]["sequence"] % _FAILS_ONCE == 0:
                return 500
            if self.arrived.setdefault(name, notice) != notice:
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
