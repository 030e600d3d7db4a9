"""A person with a vault whom another program can ask to decide: `POST /approve {"request_id", …}` and so on."""

import json
import threading
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

from consent_bridge.errors import BridgeError
from consent_bridge.results import as_json
from tests.fakes.serving import Answering, serving


class Person:
    """Decides with a signed-in `Owner`, one wish at a time."""

    def __init__(self, owner):
        self._owner, self._statuses, self._lock = owner, {}, threading.Lock()

    def does(self, wish, *, request_id="", **given):
        """One of approve, deny, pause, resume, revoke, refresh; the status afterwards."""
        with self._lock:
            status = getattr(self, wish)(request_id, **given)
            self._statuses[status.request_id] = status
            return as_json(status)

    def approve(self, request_id, attributes=None):
        return self._owner.approve(self._owner.review(request_id), attributes=attributes, invited=True)

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


@contextmanager
def deciding(owner):
    """The address at which this owner is asked."""
    person = Person(owner)

    class Handler(Answering):
        def post(self):
            try:
                status, answer = 200, person.does(self.path.strip("/"), **json.loads(self.body()))
            except BridgeError as error:
                status, answer = 400, {"error": str(error)}
            self.answer(status, json.dumps(answer).encode())

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield address
