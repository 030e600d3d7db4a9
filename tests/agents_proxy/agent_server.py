"""Agents that say what a test tells them to, behind a real HTTP server."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.fakes.serving import Answering, serving
from tests.patience import MOST_SECONDS

ORDER = ("brand", "core", "public", "second")


@dataclass
class Agents:
    """`replies[agent]` is a profile, a text, a whole JSON-RPC answer, or a function of the request; `requests` came.

    An agent that a test says nothing of says `{}`.
    """

    replies: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    address: str = ""

    def settings(self) -> dict[str, dict[str, Any]]:
        """`settings.AGENTS` for these agents."""
        return {
            agent: {"url": f"{self.address}/{agent}", "token": "", "timeout": 60.0, "protocol": "tasks-send"}
            for agent in ORDER
        }

    @property
    def names(self) -> list[str]:
        return [agent for agent, _ in self.requests]

    def answer(self, agent: str, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append((agent, request))
        reply = self.replies.get(agent, {})
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, dict) and ("result" in reply or "error" in reply):
            return {**reply, "jsonrpc": "2.0", "id": request["id"]}
        text = reply if isinstance(reply, str) else json.dumps(reply)
        message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
        result = {"status": {"state": "completed", "message": message}}
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}


@contextmanager
def speaking() -> Iterator[Agents]:
    """Agents on a port of their own, gone afterwards."""
    agents = Agents()

    class Handler(Answering):
        def post(self) -> None:
            body = agents.answer(self.path.strip("/"), json.loads(self.body()))
            self.answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as agents.address:
        yield agents


def waits_for(event: threading.Event, then: Any) -> Callable[[dict[str, Any]], Any]:
    """An agent that answers `then` only once the test says so."""

    def reply(_request: dict[str, Any]) -> Any:
        event.wait(MOST_SECONDS)
        return then

    return reply
