"""A real receiver on loopback for the brand affinity that people send to a destination."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook

from tests.fakes.serving import Answering, serving


class Crm(Answering):
    """Keeps what it gets, with its `webhook-id`, and checks its signature; a status of 0 is no answer at all."""

    status = 204
    deletes = True  # otherwise it takes requests to delete as it takes everything
    secret: str  # of the destination that names it
    url: str
    got: list[dict[str, Any]]
    ids: list[str]
    bodies: list[bytes]
    go_on: threading.Event

    def post(self) -> None:
        body = self.body()
        type(self).got.append(Webhook(self.secret).verify(body, dict(self.headers)))
        type(self).ids.append(self.headers["webhook-id"])
        type(self).bodies.append(body)
        self.go_on.wait(60)
        event = self.got[-1]
        if self.status == 204 and event["type"] == "deletion.requested" and self.deletes:
            self.answer(200, json.dumps({"deletionId": event["data"]["deletionId"], "deleted": 1}).encode())
        elif self.status:
            self.answer(self.status)


@contextmanager
def running_crm() -> Iterator[type[Crm]]:
    """One that listens until the block ends; whoever makes its destination tells it the secret."""
    handler = type("OneCrm", (Crm,), {"got": [], "ids": [], "bodies": [], "go_on": threading.Event()})
    handler.go_on.set()
    with serving(HTTPServer(("127.0.0.1", 0), handler)) as address:
        handler.url = f"{address}/in"
        yield handler
