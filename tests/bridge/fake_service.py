"""A small real HTTP server that plays the service: answers from a script, remembers what it was asked."""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.serving import Answering, serving

DROP = "drop the connection"


@dataclass(frozen=True)
class Call:
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8")))


@dataclass(frozen=True)
class Reply:
    """An answer: a JSON value, bytes, or text; `delay` in seconds comes before it, while the service runs."""

    body: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0

    def octets(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


def problem(code: str, status: int, **more: Any) -> Reply:
    headers = tuple(more.pop("headers", ()))
    return Reply({"code": code, "status": status, "title": code, "detail": "", **more}, status, headers)


Script = Reply | str | Callable[[Call], Reply]


@dataclass
class FakeService:
    """Replies by method and path, in order; the last one stays. An address without a script is a 404."""

    scripts: dict[tuple[str, str], list[Script]] = field(default_factory=lambda: defaultdict(list))
    received: list[Call] = field(default_factory=list)
    url: str = ""
    ends: threading.Event = field(default_factory=threading.Event)

    def on(self, method: str, path: str, *replies: Script) -> None:
        self.scripts[method, path].extend(replies)

    def reply_to(self, call: Call) -> Reply | str:
        self.received.append(call)
        below = f"/{call.path.split('/')[1]}/*"  # for what has no script of its own
        script = self.scripts[call.method, call.path] or self.scripts[call.method, below]
        if not script:
            return problem("not_found", 404)
        step = script.pop(0) if len(script) > 1 else script[0]
        return step(call) if callable(step) else step

    def calls(self, path: str) -> list[Call]:
        return [call for call in self.received if call.path == path]


@contextmanager
def running() -> Iterator[FakeService]:
    """The service on a free port of the loopback, until the block ends."""
    service = FakeService()

    class Handler(Answering):
        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(self.command, parts.path, dict(parse_qsl(parts.query)), headers, self.body())
            reply = service.reply_to(call)
            if isinstance(reply, Reply):
                service.ends.wait(reply.delay)
                self.answer(reply.status, reply.octets(), reply.headers)

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 - names that http.server looks for

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as service.url:
        try:
            yield service
        finally:
            service.ends.set()
