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
    """`says[agent]` is a profile, a text, a whole JSON-RPC answer, or a function of the request; `asked` is what came.

    An agent that a test says nothing of says `{}`.
    """

    says: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    address: str = ""

    def settings(self) -> dict[str, dict[str, Any]]:
        """`settings.AGENTS` for these agents."""
        return {
            agent: {"url": f"{self.address}/{agent}", "token": "", "timeout": 60.0, "protocol": "tasks-send"}
            for agent in ORDER
        }

    @property
    def names(self) -> list[str]:
        return [agent for agent, _ in self.asked]

    def answer(self, agent: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((agent, request))
        said = self.says.get(agent, {})
        if callable(said):
            said = said(request)
        if isinstance(said, dict) and ("result" in said or "error" in said):
            return {**said, "jsonrpc": "2.0", "id": request["id"]}
        text = said if isinstance(said, str) else json.dumps(said)
        message = {"role": "agent", "parts": [{"type": "text", "text": text}]}
        result = {"status": {"state": "completed", "message": message}}
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}


@contextmanager
def speaking() -> Iterator[Agents]:
    """Agents on a port of their own, gone afterwards."""
    agents = Agents()

    class Handler(Answering):
        def post(self) -> None:
            said = agents.answer(self.path.strip("/"), json.loads(self.body()))
            self.answer(200, json.dumps(said).encode(), {"Content-Type": "application/json"})

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as agents.address:
        yield agents


def waits_for(event: threading.Event, then: Any) -> Callable[[dict[str, Any]], Any]:
    """An agent that answers `then` only once the test says so."""

    def said(_request: dict[str, Any]) -> Any:
        event.wait(MOST_SECONDS)
        return then

    return said
