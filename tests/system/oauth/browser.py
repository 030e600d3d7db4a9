"""The person to whom a host sends a browser, and where programs outside this process send it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.fakes.serving import Answering, serving
from tests.visitor import Visitor


class Browser:
    """Signed in; allows what a host asks for, once the page asks."""

    def __init__(self, service: str, email: str, act_as: str = "me", *, may_read: bool = False) -> None:
        self.visitor, self.act_as, self._lock = Visitor(service), act_as, threading.Lock()
        self.permissions = ["discover", "request", *(["read"] if may_read else [])]
        self.visitor.sign_in(email)

    def allow(self, url: str) -> str:
        """Where the page sends the person back to."""
        parts = urlsplit(url)
        fields = {"act_as": self.act_as, "permission": self.permissions, "answer": "allow"}
        with self._lock:
            answer = self.visitor.submit(f"{parts.path}?{parts.query}", fields, follow=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]


@contextmanager
def opened_by_others(browser: Browser) -> Iterator[str]:
    """The address at which another program opens a page: it sends the page's, and is answered where it led."""

    class Handler(Answering):
        def post(self) -> None:
            self.answer(200, browser.allow(self.body().decode()).encode())

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield address
