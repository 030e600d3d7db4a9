"""A person's vault as the server answers it, and the way from one of its wrappers to its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from consent_bridge.answers import Revisions, SealedSegment
from consent_bridge.errors import CannotOpen, KeyRefused, Refused
from consent_bridge.transport import Answer
from consent_bridge.wrappers import Kind, VaultKey, unwrap

__all__ = ["Addresses", "Revisions", "SealedSegment", "Segment", "VaultState", "Wrapper", "unwrap_any"]


class Addresses(Protocol):
    """One person's addresses, without their first folder: `/keys`, `/segments/…`, `/requests/…`, `/grants/…`."""

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A JSON answer; tried again where the connection fails."""

    def send(self, method: str, path: str, body: object = None, params: Mapping[str, str] | None = None) -> Answer:
        """One JSON call that changes something; never repeated."""


@dataclass(frozen=True)
class Wrapper:
    """One way to the vault key, as the server keeps it."""

    wrapper_id: str
    kind: str
    label: str
    credential_id: str | None
    jwe: str
    created_at: str
    last_used_at: str | None


@dataclass(frozen=True)
class VaultState:
    """What the server knows about a person's vault; `key_id` is None before there is one."""

    user_id: str
    key_id: str | None
    vault_status: str
    primary_wrapper_id: str | None
    wrappers: tuple[Wrapper, ...]
    signing_public_key: dict[str, Any] | None
    signing_jwe: str | None


@dataclass(frozen=True)
class Segment:
    """An opened segment: attribute → value."""

    domain: str
    segment_id: str
    content_revision: int
    values: dict[str, Any]


def unwrap_any(wrappers: list[Wrapper], kind: Kind, secret: str, user_id: str, key_id: str) -> VaultKey:
    """The vault key out of the first wrapper that this secret opens; each is held to the person and the key.

    One that is spoilt keeps nobody out: it is told where no other one opens.
    """
    refused: CannotOpen | None = None
    spoilt: Refused | None = None
    for wrapper in wrappers:
        try:
            return unwrap(wrapper.jwe, kind, secret, user_id=user_id, key_id=key_id)
        except KeyRefused:  # the secret is none, whatever the wrapper
            raise
        except CannotOpen as error:
            refused = error
        except Refused as error:
            spoilt = spoilt or error
    if spoilt:
        raise spoilt
    raise KeyRefused(f"this {kind} does not open the vault") from refused
