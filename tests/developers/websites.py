"""The DNS and the website of a developer, on loopback, where proofs are looked for in tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer

import dns.resolver
import pytest

from common import addresses
from common.outbound.client import Client
from developers.apps import domains
from tests.fakes.dns import DnsServer, dns_server
from tests.fakes.serving import Answering, serving


@dataclass
class Website:
    """What its DNS says, and how it answers: `status`, `body` and `paths`, those that were asked for."""

    dns: DnsServer
    status: int = 404
    body: bytes = b""
    paths: list[str] = field(default_factory=list)

    def publish_in_dns(self, domain: str, *texts: str) -> None:
        self.dns.records[f"_consent-runtime.{domain}."] = list(texts)


@contextmanager
def website(monkeypatch: pytest.MonkeyPatch) -> Iterator[Website]:
    """Every name leads to these two servers; only where they are is changed, not how they are asked."""
    with dns_server() as names:
        site = Website(names)

        class Handler(Answering):
            def get(self) -> None:
                site.paths.append(self.path)
                self.answer(site.status, site.body)

        with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
            resolver = dns.resolver.Resolver(configure=False)
            resolver.nameservers, resolver.port = ["127.0.0.1"], names.port
            monkeypatch.setattr(domains, "_resolver", lambda: resolver)
            monkeypatch.setattr(domains, "_client", Client(may_reach=addresses.is_host))
            monkeypatch.setattr(domains, "_address", lambda domain: f"{address}{domains.FILE}")
            yield site
