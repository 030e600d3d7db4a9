"""A real DNS server on loopback, which answers TXT records and nothing else."""

import socketserver
from collections.abc import Iterator
from contextlib import contextmanager

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

from tests.fakes.serving import serving


class DnsServer(socketserver.ThreadingUDPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Question)
        self.records: dict[str, list[str]] = {}
        self.queries: list[str] = []
        self.silent = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Question(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server = self.server
        assert isinstance(server, DnsServer)
        data, sock = self.request
        question = dns.message.from_wire(data)
        name = question.question[0].name.to_text()
        server.queries.append(name)
        if server.silent:
            return
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.RA
        texts = server.records.get(name)
        if texts:
            quoted = [f'"{text}"' for text in texts]
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *quoted))
        else:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        sock.sendto(answer.to_wire(), self.client_address)


@contextmanager
def dns_server() -> Iterator[DnsServer]:
    server = DnsServer()
    with serving(server):
        yield server
