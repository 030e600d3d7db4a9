"""Where a call comes from: one notion of it for the whole service."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address at the other end, "" where none is known, as on a Unix socket.

    Behind proxies of ours it is the entry of X-Forwarded-For that the outermost of them wrote, counted from the end:
    what stands before it is the caller's own word.
    """
    peer = _parsed(str(request.META.get("REMOTE_ADDR", "")))
    if settings.TRUSTED_PROXIES:
        hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        # where fewer entries came than there are proxies, all of them are theirs
        return _parsed(hops[-min(settings.TRUSTED_PROXIES, len(hops))]) or peer
    return peer


def network_of(address: str) -> str:
    """What one caller can easily change addresses within: the address itself, or the /64 of an IPv6 one.

    "" where the address is none: nobody can be told apart by it.
    """
    parsed = _parsed(address)
    if ":" not in parsed:
        return parsed
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def coarse_prefix(address: str) -> str:
    """The /24 that an address lies in, or /48 of IPv6; "" of none. Enough to recognise, too little to trace."""
    try:
        host = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((host, 24 if host.version == 4 else 48), strict=False))


def _parsed(written: str) -> str:
    """An address in its shortest form, without what proxies add to it: a port, brackets, a zone."""
    text = written.strip()[:64]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
