"""A person with a vault whom another program can ask to decide: `POST /approve {"request_id", …}` and so on."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from consent_bridge.errors import BridgeError
from consent_bridge.results import as_json


class Person:
    """Decides with a signed-in `Owner`, one wish at a time."""

    def __init__(self, owner):
        self._owner, self._statuses, self._lock = owner, {}, threading.Lock()

    def __enter__(self):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def does(self, wish, *, request_id="", **given):
        """One of approve, deny, pause, resume, revoke, refresh; the status afterwards."""
        with self._lock:
            status = getattr(self, wish)(request_id, **given)
            self._statuses[status.request_id] = status
            return as_json(status)

    def approve(self, request_id, attributes=None):
        return self._owner.approve(self._owner.review(request_id), attributes=attributes)

    def deny(self, request_id):
        return self._owner.deny(request_id)

    def pause(self, request_id):
        return self._owner.pause(self._statuses[request_id].grant.grant_id)

    def resume(self, request_id):
        return self._owner.resume(self._statuses[request_id].grant.grant_id)

    def revoke(self, request_id):
        return self._owner.revoke(self._statuses[request_id].grant.grant_id)

    def refresh(self, request_id, food):
        self._owner.update("lifestyle", "food", food)
        return self._owner.refresh_grant(self._statuses[request_id])


def handler_of(person):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, answer = 200, person.does(self.path.strip("/"), **given)
            except BridgeError as error:
                status, answer = 400, {"error": str(error)}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            pass

    return Handler
