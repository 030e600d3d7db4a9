"""The addresses that a browser is sent back to with a code (RFC 8252, OAuth 2.1)."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from developers.oauth.errors import InvalidRedirectUri

LONGEST = 2048
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,63}\Z")
_PRINTABLE = re.compile(r"[!#-;=?-\[\]_a-z~]+\Z")  # ASCII without space, quote, backslash, brackets of HTML
# what a browser runs, reads or opens by itself, or hands to a program that is nobody's own
_NOT_PRIVATE = frozenset({
    "about", "blob", "callto", "content", "data", "facetime", "file", "filesystem", "ftp", "intent", "jar",
    "javascript", "ldap", "mailto", "resource", "search-ms", "sip", "sms", "smb", "ssh", "tel", "telnet", "vbscript",
    "view-source", "ws", "wss",
})  # fmt: skip
_OF_WINDOWS = "ms-"  # its own programs, some of which run what an address says
# a name or an address, and a port: nothing that a content policy or a header reads as something else
_AUTHORITY = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?\Z")


def check_redirect(uri: str) -> str:
    """`uri`, where people may be sent to it: by https, to this device, or by a scheme of the client's own."""
    parts = _split(uri)
    if parts is None or parts.username is not None or parts.password is not None:
        raise InvalidRedirectUri("A redirect address is an absolute URI without a fragment or a password.")
    if parts.scheme == "http" and not is_loopback(parts):
        raise InvalidRedirectUri("Plain http leads to this device alone: localhost, 127.0.0.1 or [::1].")
    if parts.scheme in ("http", "https"):
        if not _AUTHORITY.match(parts.netloc):
            raise InvalidRedirectUri("A redirect address names its host, in ASCII.")
    elif parts.scheme in _NOT_PRIVATE or parts.scheme.startswith(_OF_WINDOWS):
        raise InvalidRedirectUri("This scheme is no program's own.")
    return uri


def is_registered(uri: str, registered: list[str]) -> bool:
    """Whether the client named this address: letter by letter, but for the port on this device (RFC 8252, 7.3)."""
    if uri in registered:
        return True
    given = _split(uri)
    if given is None or not is_loopback(given):
        return False
    return any(_without_port(given) == _without_port(one) for one in map(_split, registered) if one is not None)


def is_loopback(parts: SplitResult) -> bool:
    return parts.scheme == "http" and parts.hostname in _LOOPBACK and parts.username is None and parts.password is None


@dataclass(frozen=True)
class Destination:
    """What a person is shown of where they are sent: the host with its port, or the scheme of a program."""

    name: str
    is_this_device: bool


def destination_of(uri: str) -> Destination:
    parts = urlsplit(uri)
    return Destination(parts.netloc or f"{parts.scheme}:", is_loopback(parts))


def form_source(uri: str) -> str:
    """What a page's `form-action` allows, so that its form may end there; no source names an IPv6 host."""
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https") or ":" in (parts.hostname or ""):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"


def _split(uri: str) -> SplitResult | None:
    """The parts of an absolute URI without a fragment, written in one way only; None for any other text."""
    if not _PRINTABLE.match(uri) or "#" in uri or len(uri) > LONGEST:
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises where it is none
    except ValueError:
        return None
    begins = f"{parts.scheme}:"
    return parts if _SCHEME.match(parts.scheme) and uri.startswith(begins) and len(uri) > len(begins) else None


def _without_port(parts: SplitResult) -> tuple[str, str | None, str, str]:
    return (parts.scheme, parts.hostname, parts.path, parts.query)
