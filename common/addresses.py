"""Which addresses this service may connect to, whatever a name resolves to.

`is_public` is for addresses that somebody else chose, as an app does for its webhooks: the public unicast internet and
nothing else. `is_host` is for those that the operator configured, which may lie inside the own network, but are never
a cloud's metadata service or an address that belongs to no single machine.

An address that carries another one inside (IPv4-mapped, NAT64) is judged by the one inside. The other ways of carrying
one (6to4, Teredo, ISATAP, IPv4-compatible, local NAT64) are deprecated or local, so they are refused as they are.
"""

import ipaddress
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*written: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in written)


_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")  # all that was ever given out as unicast
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # the well-known prefix: an IPv6-only host's way to public IPv4
_ISATAP = (0x00005EFE, 0x02005EFE)  # the upper half of an interface identifier whose lower half is IPv4

# These answer to whoever can reach them, with the credentials of the machine or from inside the cloud.
_METADATA = _networks("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.0/24",
                      "fd00:ec2::254/128", "fd20:ce::254/128", "fe80::/10", "fec0::/10")  # fmt: skip
# Of no single machine, deprecated ways of carrying IPv4, or given out to nobody.
_NO_HOST = _networks("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "192.88.99.0/24",
                     "::/128", "ff00::/8", "2001::/32", "2002::/16", "64:ff9b:1::/48")  # fmt: skip
# The special-purpose registries (RFC 6890 and its successors), beside what `ipaddress` knows of them in each version.
_SPECIAL = _networks("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.2.0/24",
                     "192.31.196.0/24", "192.52.193.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
                     "198.51.100.0/24", "203.0.113.0/24",
                     "2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")  # fmt: skip


def is_public(address: str | Address) -> bool:
    """Whether this is a public unicast address; what cannot be read is none."""
    found = _judged(address)
    if found is None or _within(found, _METADATA) or _within(found, _NO_HOST) or _within(found, _SPECIAL):
        return False
    if isinstance(found, ipaddress.IPv6Address) and (found not in _GLOBAL_IPV6 or _is_isatap(found)):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved)


def is_host(address: str | Address) -> bool:
    """Whether this may be a machine that the operator named: public, private or this one."""
    found = _judged(address)
    if found is None or _within(found, _METADATA) or _within(found, _NO_HOST):
        return False
    if found.is_loopback or found.is_private:
        # `::a.b.c.d` counts as private; but for ::1 it is an IPv4 address in disguise
        return found.is_loopback or int(found) >> 32 != 0 or found.version == 4
    return is_public(found)


def _judged(address: str | Address) -> Address | None:
    """The address that decides: the one inside where it carries one; None for what cannot be read."""
    if isinstance(address, str):
        try:
            address = ipaddress.ip_address(address.partition("%")[0])  # a zone says which link, and changes nothing
        except ValueError:
            return None
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _is_isatap(address: ipaddress.IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFFFFFFFF in _ISATAP
