"""`python -m agents_proxy.reference --port 8010`: one address per agent, each taking the proxy's JSON-RPC.

Needs nothing of the service: no database, no settings. REFERENCE_LLM_BASE_URL, REFERENCE_LLM_MODEL and
REFERENCE_LLM_API_KEY make it ask an OpenAI-compatible model instead of working offline.
"""

import argparse
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from agents_proxy.reference.answering import answered, refused

_LIMIT = 1024 * 1024  # bytes


class Handler(BaseHTTPRequestHandler):
    """Reads a JSON-RPC request, answers a JSON-RPC response."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    messages: Path | None = None

    def do_POST(self) -> None:  # the name that the standard library calls
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length[:12]) > _LIMIT:
            self.close_connection = True
            return self._send(refused(None, -32600, "send a JSON-RPC request with its length"))
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return self._send(refused(None, -32700, "not JSON"))
        return self._send(answered(self.path.strip("/"), request, self.messages))

    def _send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """One line per call, without what was asked."""
        if args and str(args[1:2]) != "('200',)":
            sys.stderr.write(f"{self.path} {args[1] if len(args) > 1 else ''}\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m agents_proxy.reference")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--messages", type=Path, help="keep messages as files in this folder")
    options = parser.parse_args()
    Handler.messages = options.messages
    if options.messages:
        options.messages.mkdir(parents=True, exist_ok=True, mode=0o700)
    with Server((options.host, options.port), Handler) as server:
        how = os.environ.get("REFERENCE_LLM_BASE_URL") or "what is knowable offline"
        sys.stderr.write(f"reference agents on port {server.server_address[1]}, answering from {how}\n")
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
