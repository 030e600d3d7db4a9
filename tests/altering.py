"""A small HTTP proxy in front of a served site, which alters what it hands on: a server that was tampered with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.fakes.serving import Answering, serving


@dataclass
class Exchange:
    """A request for a path with its headers, and the answer on its way; headers have their names in small letters."""

    path: str
    request_headers: dict[str, str]
    headers: dict[str, str]
    body: bytes


Alter = Callable[[Exchange], None]  # changes the answer in place
_OWN = {"content-length", "transfer-encoding", "connection", "content-encoding"}


@contextmanager
def altered(site: str, alter: Alter) -> Iterator[str]:
    """The address of the proxy; it only reads, which is all that a look at a site does."""
    target = urlsplit(site)

    class Proxy(Answering):
        def get(self) -> None:
            wanted = {name.lower(): value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
            asking = HTTPConnection(str(target.hostname), target.port, timeout=30)
            asking.request("GET", self.path, headers=wanted)
            answer = asking.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders() if name.lower() not in _OWN}
            exchange = Exchange(self.path, wanted, headers, answer.read())
            asking.close()
            alter(exchange)
            self.answer(answer.status, exchange.body, exchange.headers)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Proxy)) as address:
        yield address.replace("127.0.0.1", "localhost")
