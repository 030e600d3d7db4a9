"""A real receiver of webhooks on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS


class Receiver(ThreadingHTTPServer):
    """Keeps what arrives; answers with the statuses in `answers`, the last one again and again, while `answering`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived: list[tuple[dict[str, str], bytes]] = []
        self.answers = [204]
        self.answering = threading.Event()
        self.answering.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class _Handler(Answering):
    server: Receiver

    def post(self) -> None:
        self.server.arrived.append((dict(self.headers), self.body()))
        self.server.answering.wait(MOST_SECONDS)
        status = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        self.answer(status, headers={"Location": self.server.url + "-elsewhere"} if status in (301, 302, 307) else {})


@contextmanager
def receiving(settings: Any) -> Iterator[Receiver]:
    """One that `settings` let webhooks go to, until the block ends."""
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    server = Receiver()
    with serving(server):
        yield server
