"""Whether a website's domain holds the proof that its app was given: a DNS record, or a file at a well-known address.

Nothing here writes, and all of it may wait for other servers: never inside a transaction.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from common import addresses
from common.outbound.client import Client
from common.outbound.failures import ExchangeFailed

if TYPE_CHECKING:
    import dns.resolver

RECORD, FILE = "_consent-runtime", "/.well-known/consent-runtime.txt"
_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+\Z)[a-z0-9-]{2,63}")
_DNS_SECONDS, _FILE_SECONDS, _LARGEST = 5.0, 10.0, 1024
_client = Client(may_reach=addresses.is_public, connect_seconds=5)

Place = Literal["proof", "other", "nothing"]


@dataclass(frozen=True)
class Finding:
    """What was at the two places: the proof, something else, or nothing that could be read."""

    dns: Place
    file: Place

    @property
    def proves(self) -> bool:
        return "proof" in (self.dns, self.file)


def domain_of(website: str) -> str:
    """The host of an https link as DNS writes it, in lower case; empty for an address of no named host."""
    try:
        split = urlsplit(website)
        host = (split.hostname or "").rstrip(".").encode("idna").decode().lower()
        has_port = split.port != 0
    except ValueError:  # of urlsplit, of a port over 65535, and of the codec
        return ""
    return host if has_port and _NAME.fullmatch(host) else ""


def look_for_proof(domain: str, challenge: str) -> Finding:
    """Both places, one after the other: 15 seconds at most."""
    return Finding(_judged(_records(domain), challenge), _judged(_file(domain), challenge))


def _judged(lines: Iterator[str], challenge: str) -> Place:
    found = [line.strip() for line in lines]
    if challenge in found:
        return "proof"
    return "other" if any(found) else "nothing"


def _records(domain: str) -> Iterator[str]:
    """Each TXT record's text, by the resolver of this machine."""
    import dns.exception  # a large library for what is rarely asked
    from dns.rdtypes.ANY.TXT import TXT

    try:
        answer = _resolver().resolve(f"{RECORD}.{domain}.", "TXT", lifetime=_DNS_SECONDS, search=False)
    except (dns.exception.DNSException, OSError):
        return
    for record in answer:
        if isinstance(record, TXT):
            yield b"".join(record.strings).decode("ascii", "replace")


def _resolver() -> "dns.resolver.Resolver":
    """Read afresh each time: a machine's resolver may change, and this is rarely asked."""
    import dns.resolver

    return dns.resolver.Resolver()


def _file(domain: str) -> Iterator[str]:
    """The file's lines. No redirect is followed: it would be another site's word."""
    headers = {"User-Agent": "Consent-Runtime-Domain-Check"}
    try:
        answer = _client.get(_address(domain), headers=headers, seconds=_FILE_SECONDS, limit=_LARGEST)
    except ExchangeFailed:
        return
    if answer.status == 200:
        yield from answer.body.decode("ascii", "replace").splitlines()


def _address(domain: str) -> str:
    return f"https://{domain}{FILE}"
