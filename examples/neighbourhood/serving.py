"""A small HTTP server on this machine alone: what the reference agents and the programs of the neighbourhood share."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

MOST_BYTES = 1024 * 1024  # of a request
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
_POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Request:
    """What came: `path` without its query, the body as bytes."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, list[str]]:
        return parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)

    @property
    def json(self) -> Any:
        """The body as JSON; raises `ValueError`."""
        try:
            return json.loads(self.body)
        except RecursionError:
            raise ValueError("nested too deeply") from None


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


def json_response(status: int, content: Any) -> Response:
    return Response(status, json.dumps(content).encode())  # in ASCII, which holds a lone surrogate too


def redirect(address: str) -> Response:
    return Response(303, headers={"Location": address})


NOT_FOUND = json_response(404, {"error": "nothing is here"})
Program = Callable[[Request], Response]


class Server(ThreadingHTTPServer):
    """One program on one port of the loopback interface; port 0 takes a free one."""

    daemon_threads = True
    request_queue_size = 1024  # a load test overflows less

    def __init__(self, port: int, program: Program) -> None:
        self.program = program
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who went away is no failure."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, asks the program, writes what it answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60
    server: Server
    server_version: ClassVar[str] = "Examples"  # type: ignore[misc]  # the same name, said to be constant
    sys_version: ClassVar[str] = ""  # type: ignore[misc]

    def do_GET(self) -> None:  # BaseHTTPRequestHandler calls these names
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        length = self.headers.get("Content-Length") or "0"
        if (
            not length.isdecimal()
            or len(length) > 12
            or int(length) > MOST_BYTES
            or "Transfer-Encoding" in self.headers
        ):
            self.close_connection = True
            return self._write(json_response(413, {"error": "a request needs its length, and less of it"}))
        body = self.rfile.read(int(length))
        if not self._is_for_us():
            return self._write(json_response(403, {"error": "this is for programs and pages of this machine"}))
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return self._write(self.server.program(Request(method, parts.path, query, headers, body)))

    def _is_for_us(self) -> bool:
        """Whether it was sent to this machine by name, and by no page of another site."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        own_name = host.rpartition(":")[0] in _OWN_NAMES
        return own_name and origin in (None, f"http://{host}")

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.kind)
        self.send_header("Content-Length", str(len(response.body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "same-origin")
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:
        """One line for each refusal, with neither query nor body."""
        if len(args) > 1 and not str(args[1]).startswith(("2", "3")):
            sys.stderr.write(f"port {self.server.server_port} {self.path.partition('?')[0]} {args[1]}\n")
