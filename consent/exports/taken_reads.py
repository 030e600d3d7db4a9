"""One read: who reads what, and what was handed out and written down."""

import ipaddress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from developers.authentication import AppContext


@dataclass(frozen=True)
class ReadCall:
    """An app reads what its request was approved for; `address_prefix` is the network that it calls from."""

    app: AppContext
    request_id: str
    address_prefix: str
    idempotency_key: str | None = None


@dataclass(frozen=True)
class TakenRead:
    """The newest export as it was when the read was counted; `reads` counts this one."""

    request_id: str
    grant_id: str
    export_id: str
    revision: int
    user_id: str
    scope: str
    approved_attributes: list[str]
    connector_key_id: str
    sealed_at: datetime
    grant_expires_at: datetime
    max_reads: int | None
    reads: int
    size_bytes: int
    ciphertext: str
    approval: str
    owner_key: dict[str, str]
    key_history: list[dict[str, Any]]
    owner_key_reset: bool

    @property
    def reads_remaining(self) -> int | None:
        return None if self.max_reads is None else self.max_reads - self.reads


def address_prefix(address: str) -> str:
    """The network that an address lies in (/24, or /48 of IPv6): enough to recognise, too little to trace."""
    try:
        host: Any = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(ipaddress.ip_network((host, 24 if host.version == 4 else 48), strict=False))
