"""Servers of the tests: on a free port of the loopback, in a thread of their own, and gone after their block."""

import socketserver
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler

Headers = Mapping[str, str] | Iterable[tuple[str, str]]  # pairs, where one comes twice


class Answering(BaseHTTPRequestHandler):
    """Has a `get` or a `post` for what it is asked, logs nothing, and minds nobody who is gone before the answer."""

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        with suppress(ConnectionError):
            self.send_response(status)
            for name, value in headers.items() if isinstance(headers, Mapping) else headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[str]:
    """The address of what is served until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
