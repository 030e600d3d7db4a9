"""`python -m examples.reference_agents --port 8010`: an HTTP server with one address for each agent.

It is a program of its own, without the service's database or settings.
"""

import argparse
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from examples.reference_agents.agent_card import agent_card, agent_of_card
from examples.reference_agents.agents import AGENTS
from examples.reference_agents.consent import HEADER, Consent
from examples.reference_agents.json_rpc import answer_deletion, answer_request, error_response
from examples.reference_agents.store import keep_in

_MAX_BODY_BYTES = 1024 * 1024
_DELETING = {f"/{agent}/delete" for agent in AGENTS}  # take signed requests to delete


class Handler(BaseHTTPRequestHandler):
    """Answers JSON-RPC requests, and gives out the agents' cards."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:  # BaseHTTPRequestHandler calls this name
        if not self._is_from_a_program():
            return self._send({"detail": "This is for programs of this machine."}, 403)
        agent = agent_of_card(self.path)
        if agent is None:
            return self._send(
                {"detail": "Agents take POST; their cards are at /<agent>/.well-known/agent-card.json."}, 404
            )
        return self._send(agent_card(agent, f"http://{self.headers.get('Host') or self._own_address()}"))

    def do_POST(self) -> None:  # BaseHTTPRequestHandler calls this name
        if not self._is_from_a_program():
            self.close_connection = True
            return self._send(error_response(None, -32600, "this is for programs of this machine"), 403)
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 12 or int(length) > _MAX_BODY_BYTES:
            self.close_connection = True
            return self._send(error_response(None, -32600, "send a JSON-RPC request with its length"))
        body, consent = self.rfile.read(int(length)), self.server.consent  # type: ignore[attr-defined]  # of `Server`
        if self.path in _DELETING:
            status, told = answer_deletion(body.decode("ascii", "replace").strip(), consent)
            return self._send(told, status)
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            return self._send(error_response(None, -32700, "not JSON"))
        version, shown = (self.headers.get(name, "").strip() for name in ("A2A-Version", HEADER))
        return self._send(answer_request(self.path.strip("/"), request, version, consent=consent, shown=shown))

    def _is_from_a_program(self) -> bool:
        """No web page is answered: neither one that says so, nor, on this machine, one under a name that lies."""
        if "Origin" in self.headers:
            return False
        on_loopback = ip_address(self.connection.getsockname()[0].partition("%")[0]).is_loopback
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        return not on_loopback or host in ("127.0.0.1", "::1", "localhost")

    def _own_address(self) -> str:
        host, port = self.connection.getsockname()[:2]
        return f"{host}:{port}"

    def _send(self, answer: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(answer).encode()  # in ASCII, which holds a lone surrogate too
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """One line for each response other than 200, without the body of the request."""
        if args and str(args[1:2]) != "('200',)":
            sys.stderr.write(f"{self.path} {args[1] if len(args) > 1 else ''}\n")


class Server(ThreadingHTTPServer):
    """A thread for each connection, with a backlog that a load test does not overflow."""

    daemon_threads = True
    request_queue_size = 1024
    consent: Consent | None = None


def main() -> None:
    """Read the command line and serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m examples.reference_agents")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--store", type=Path, help="keep profiles in this SQLite file; in memory without it")
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--issuer", help="answer only what a person agreed to, as this service asserts: its BASE_URL")
    whose.add_argument("--without-consent", action="store_true", help="answer everything; to try an agent by hand")
    parser.add_argument("--origin", help="as the service has it in AGENT_<NAME>_URL; http://<host>:<port> by default")
    options = parser.parse_args()
    keep_in(options.store)
    with Server((options.host, options.port), Handler) as server:
        if options.issuer:
            server.consent = Consent(
                options.issuer, options.origin or f"http://{options.host}:{server.server_address[1]}"
            )
        sys.stderr.write(f"reference agents on port {server.server_address[1]}\n")
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
