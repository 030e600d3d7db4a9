"""Connections to the outside: every address that a name resolves to is checked first, and one of them is connected to.

No packet leaves before the check, so nobody learns from the time that a refusal takes whether a port inside is open;
and what is connected to is what was checked, so a name that resolves differently a moment later changes nothing.
"""

import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from common import addresses

MayReach = Callable[[str], bool]


class AddressRefused(OSError):
    """The name leads somewhere that this service does not connect to."""


def open_socket(
    host: str, port: int, *, may_reach: MayReach, timeout: float | None, options: Iterable[tuple[Any, ...]] = ()
) -> socket.socket:
    """A TCP connection to `host`, within `timeout` seconds, if each of its addresses is one that `may_reach` allows.

    Raises `AddressRefused` before anything was sent, or the `OSError` of the last address that was tried.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not found or not all(may_reach(str(place[0])) for *_, place in found):
        raise AddressRefused("the address is not allowed")
    deadline = None if timeout is None else time.monotonic() + timeout
    last: OSError = TimeoutError("no time was left")
    for family, kind, protocol, _, place in found:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            break
        sock = socket.socket(family, kind, protocol)
        try:
            for option in options:
                sock.setsockopt(*option)
            sock.settimeout(left)
            sock.connect(place)
        except OSError as error:
            sock.close()
            last = error
        else:
            return sock
    raise last


class _Checked:
    """Mixed into urllib3's connections: they connect by `open_socket`.

    `_new_conn` is where urllib3 itself (SOCKS) and requests' own toolbelt replace how a connection is made.
    """

    @staticmethod
    def may_reach(address: str) -> bool:
        raise NotImplementedError

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
        try:
            return open_socket(
                connection.host.strip("[]"),
                connection.port,
                may_reach=type(self).may_reach,
                timeout=timeout,
                options=connection.socket_options or (),
            )
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(connection, "the connection timed out") from error
        except (OSError, UnicodeError) as error:  # the latter: a label that no name can have
            raise NewConnectionError(connection, "the connection failed") from error


class ToPublic(_Checked, HTTPConnection):
    """To addresses that somebody else chose."""

    @staticmethod
    def may_reach(address: str) -> bool:
        return addresses.is_public(address)


class ToPublicTls(_Checked, HTTPSConnection):
    @staticmethod
    def may_reach(address: str) -> bool:
        return addresses.is_public(address)


class ToHost(_Checked, HTTPConnection):
    """To addresses that the operator configured."""

    @staticmethod
    def may_reach(address: str) -> bool:
        return addresses.is_host(address)


class ToHostTls(_Checked, HTTPSConnection):
    @staticmethod
    def may_reach(address: str) -> bool:
        return addresses.is_host(address)


def pools(plain: type[HTTPConnection], encrypted: type[HTTPSConnection]) -> dict[str, Any]:
    """The pool of each scheme, for a urllib3 manager's `pool_classes_by_scheme`."""

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = encrypted

    return {"http": PlainPool, "https": EncryptedPool}


def session(plain: type[HTTPConnection], encrypted: type[HTTPSConnection]) -> requests.Session:
    """A session of `requests` over these connections: no proxy, which would connect unseen, and no second attempt."""
    made = requests.Session()
    made.trust_env = False
    adapter = HTTPAdapter(max_retries=0)
    adapter.poolmanager.pool_classes_by_scheme = pools(plain, encrypted)
    made.mount("https://", adapter)
    made.mount("http://", adapter)
    return made
