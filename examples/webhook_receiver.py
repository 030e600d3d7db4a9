"""A receiver of webhooks: verifies each, passes over repetitions, and keeps the newest state of all that it hears of.

    WEBHOOK_SECRET=whsec_… python examples/webhook_receiver.py        (PORT chooses another port than 8092)

The secret is shown when the endpoint is registered. Behind a proxy that speaks https, register its public address.
"""

import json
import os
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from consent_bridge.errors import BadAnswer, BridgeError
from consent_bridge.webhooks import Webhook, verify

MAX_BODY_BYTES = 256 * 1024
REMEMBERED = 10_000  # deliveries, for telling repetitions apart


class Ledger:
    """What is known of each request, connection or analysis. Several processes keep this in their database."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._newest: dict[str, int] = {}
        self._lock = threading.Lock()

    def take(self, notice: Webhook, act: Callable[[Webhook], None]) -> None:
        """Act on what is news: no repetition, and nothing that a newer notice has overtaken.

        It is remembered once that is done. Where `act` raises, the repetition is news again. One at a time: of two
        deliveries of one notice the second waits to see what became of the first.
        """
        with self._lock:
            if notice.webhook_id in self._seen:
                return
            subject, sequence, _ = state_of(notice)
            if self._newest.get(subject, -1) < sequence:
                act(notice)
                self._newest[subject] = sequence
            self._seen[notice.webhook_id] = None
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)


class Hook(BaseHTTPRequestHandler):
    """`POST /`: 204 where the notice was taken or known, 400 where it is not the service's, 500 where acting failed."""

    server: "HookServer"

    def do_POST(self) -> None:
        """Verify the exact bytes that came, then act on them."""
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= MAX_BODY_BYTES:
            self._answer(413)
            return
        try:
            notice = verify(self.rfile.read(length), dict(self.headers.items()), self.server.secret)
        except BadAnswer as unknown:  # signed, and of a type that this client does not know: sent again it stays so
            print(json.dumps({"passed over": str(unknown)}), flush=True)
            self._answer(204)
            return
        except BridgeError as refusal:
            print(json.dumps({"refused": str(refusal)}), flush=True)
            self._answer(400)
            return
        try:
            self.server.ledger.take(notice, act_on)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._answer(500)  # so that it is sent again
            return
        self._answer(204)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: what counts is printed."""


def state_of(notice: Webhook) -> tuple[str, int, str]:
    """What it is about, by its ID, with the number and the state that it tells of that."""
    if (processing := notice.processing) is not None:
        about = processing.deletion_id or processing.activation_id or processing.analysis_id or processing.consent_id
        return about, processing.sequence, processing.status
    if (connection := notice.connection) is not None:
        return connection.connection_id, connection.sequence or 0, connection.status
    if (status := notice.status) is None:
        raise ValueError("a notice of nothing")
    return status.request_id, status.sequence or 0, status.status if status.grant is None else status.grant.status


def act_on(notice: Webhook) -> None:
    """What this program does with news; answer soon, and do slow work elsewhere."""
    about, sequence, status = state_of(notice)
    news = {"type": notice.type, "id": about, "sequence": sequence, "status": status}
    print(json.dumps(news), flush=True)


class HookServer(ThreadingHTTPServer):
    """The receiver with its secret and its memory."""

    def __init__(self, port: int, secret: str) -> None:
        super().__init__(("127.0.0.1", port), Hook)
        self.secret, self.ledger = secret, Ledger()


def main() -> None:
    """Serve until Ctrl-C."""
    server = HookServer(int(os.environ.get("PORT", "8092")), os.environ["WEBHOOK_SECRET"])
    print(json.dumps({"listening": f"http://127.0.0.1:{server.server_port}/"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
