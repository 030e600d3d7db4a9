"""Which addresses may be connected to: by whoever chose them."""

import pytest

from common.addresses import is_host, is_public

# address, whether it is on the public internet, whether the operator may name it
TABLE = [
    ("8.8.8.8", True, True),
    ("1.1.1.1", True, True),
    ("193.99.144.80", True, True),
    ("2001:4860:4860::8888", True, True),
    ("2606:4700::1111", True, True),
    ("2a00:1450:4001:82a::200e", True, True),
    ("::ffff:8.8.8.8", True, True),
    ("64:ff9b::8.8.8.8", True, True),
    # this machine and its networks
    ("127.0.0.1", False, True),
    ("127.255.255.254", False, True),
    ("::1", False, True),
    ("10.0.0.7", False, True),
    ("172.16.0.1", False, True),
    ("172.31.255.255", False, True),
    ("192.168.1.1", False, True),
    ("fc00::1", False, True),
    ("fdff:ffff::1", False, True),
    ("100.64.0.1", False, False),
    ("100.127.255.254", False, False),
    # no host at all
    ("0.0.0.0", False, False),
    ("0.1.2.3", False, False),
    ("::", False, False),
    ("255.255.255.255", False, False),
    ("240.0.0.1", False, False),
    ("224.0.0.1", False, False),
    ("239.255.255.250", False, False),
    ("ff02::1", False, False),
    ("ff0e::1", False, False),
    # link local, and clouds' metadata
    ("169.254.169.254", False, False),
    ("169.254.0.1", False, False),
    ("168.63.129.16", False, False),
    ("192.0.0.192", False, False),
    ("192.0.0.8", False, False),
    ("192.0.0.9", False, False),
    ("192.0.0.170", False, False),
    ("100.100.100.200", False, False),
    ("fd00:ec2::254", False, False),
    ("fd20:ce::254", False, False),
    ("fe80::1", False, False),
    ("fe80::1%eth0", False, False),
    ("febf::1", False, False),
    ("fec0::1", False, False),
    ("feff::1", False, False),
    # IPv4 inside IPv6
    ("::ffff:127.0.0.1", False, True),
    ("::ffff:10.0.0.1", False, True),
    ("::ffff:169.254.169.254", False, False),
    ("::ffff:a9fe:a9fe", False, False),
    ("64:ff9b::a9fe:a9fe", False, False),
    ("64:ff9b::127.0.0.1", False, True),
    ("64:ff9b::10.0.0.1", False, True),
    ("64:ff9b:1::a9fe:a9fe", False, False),
    ("64:ff9b:1:ffff::8.8.8.8", False, False),
    ("2002:7f00:1::", False, False),
    ("2002:a9fe:a9fe::1", False, False),
    ("2002:0808:0808::1", False, False),
    ("2001::1", False, False),
    ("2001:0:53aa:64c:0:fbff:5601:5601", False, False),
    ("::169.254.169.254", False, False),
    ("::127.0.0.1", False, False),
    ("::8.8.8.8", False, False),
    ("2001:4860::5efe:127.0.0.1", False, False),
    ("2001:4860::200:5efe:10.0.0.1", False, False),
    ("fe80::5efe:10.0.0.1", False, False),
    # special purposes
    ("192.0.2.1", False, None),
    ("198.51.100.1", False, None),
    ("203.0.113.1", False, None),
    ("198.18.0.1", False, None),
    ("198.19.255.255", False, None),
    ("192.88.99.1", False, False),
    ("192.31.196.1", False, None),
    ("192.52.193.1", False, None),
    ("192.175.48.1", False, None),
    ("2001:db8::1", False, None),
    ("3fff::1", False, None),
    ("2001:2::1", False, None),
    ("2001:10::1", False, None),
    ("2001:20::1", False, None),
    ("100::1", False, None),
    ("4000::1", False, False),
    ("5f00::1", False, False),
    # nothing that is an address
    ("", False, False),
    ("localhost", False, False),
    ("2130706433", False, False),
    ("0x7f000001", False, False),
    ("0177.0.0.1", False, False),
    ("127.1", False, False),
    ("[::1]", False, False),
    ("1.2.3.4.5", False, False),
]


@pytest.mark.parametrize(("address", "public", "host"), TABLE, ids=[row[0] or "empty" for row in TABLE])
def test_address(address: str, public: bool, host: bool | None) -> None:
    """None: it is of no use to the operator, and of no harm either."""
    assert is_public(address) is public
    if host is not None:
        assert is_host(address) is host
