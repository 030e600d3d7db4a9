"""Segments of a vault: attribute → value, sealed under the vault key and bound to their place and revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from consent_bridge import jwe
from consent_bridge.encoding import dump_json, parse_object
from consent_bridge.errors import KeyRefused

VAULT_KEY_BYTES = 32
_TYP = "pkm-segment+jwe"

PROFILE = jwe.Profile(
    name="segment",
    alg=jwe.ALG_VAULT,
    members={
        "typ": jwe.exactly(_TYP),
        "kid": jwe.vault_key_name,
        "sub": jwe.text,
        "domain": jwe.text,
        "segment_id": jwe.text,
        "content_revision": jwe.counter,
    },
)


@dataclass(frozen=True)
class SegmentHeader:
    """Where a segment belongs: the person, the vault key, the place and the revision."""

    kid: str
    sub: str
    domain: str
    segment_id: str
    content_revision: int


def seal_segment(values: Mapping[str, Any], vault_key: bytes, header: SegmentHeader) -> str:
    """The segment as a compact JWE."""
    members = {"typ": _TYP, **asdict(header)}
    plaintext = dump_json(dict(values), "the segment")
    return jwe.seal(members, plaintext, jwe.symmetric(check_vault_key(vault_key)), PROFILE)


def open_segment(sealed: str, vault_key: bytes, expected: SegmentHeader) -> dict[str, Any]:
    """The attributes of a segment; refuses one that is swapped, replayed or older, naming the member that differs."""
    return open_segment_where(sealed, vault_key, jwe.equal(asdict(expected)))


def open_segment_where(sealed: str, vault_key: bytes, expectation: jwe.Expectation) -> dict[str, Any]:
    """The same with a caller's own comparison; what it does not compare may be any segment of this vault."""
    expectation(jwe.read_header(sealed, PROFILE))
    plaintext = jwe.open_sealed(sealed, jwe.symmetric(check_vault_key(vault_key)), "segment")
    return parse_object(plaintext, "the segment's content")


def check_vault_key(vault_key: bytes) -> bytes:
    """The same bytes, if there are 32 of them."""
    if len(vault_key) != VAULT_KEY_BYTES:
        raise KeyRefused(f"the vault key has {len(vault_key)} bytes, not {VAULT_KEY_BYTES}")
    return vault_key
