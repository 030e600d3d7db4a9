"""Receipts: who signed them, and whether they say what one expects. The public keys are enough.

A receipt proves one event of a request: a compact JWS (RFC 7515) with Ed25519 (RFC 8037).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from consent_bridge.encoding import decode_base64url, parse_object
from consent_bridge.errors import CannotOpen, KeyRefused, Refused, shown

KEYS_PATH = "/.well-known/consent-keys.json"

Claims = dict[str, Any]
Keys = Mapping[str, bytes]

_TYPE, _ALG = "consent-receipt+jwt", "EdDSA"
_MEMBERS = ("typ", "alg", "kid")
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
_MAX_JWS_CHARS = 256 * 1024
_MAX_KEYS = 100


class UnknownKey(Refused):
    """The key that is said to have signed is not among the keys; a newer set may have it."""


def read_keys(jwks: object) -> dict[str, bytes]:
    """The verification keys of a JWKS by their `kid`; keys of other kinds are passed over."""
    listed = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(listed, list) or not 0 < len(listed) <= _MAX_KEYS:
        raise KeyRefused(f"the key set has no list of 1 to {_MAX_KEYS} keys")
    keys: dict[str, bytes] = {}
    for jwk in listed:
        if not isinstance(jwk, Mapping) or "d" in jwk:
            raise KeyRefused("the key set holds something that is no public key", member="keys")
        if not _verifies(jwk):
            continue
        kid = jwk.get("kid")
        if not isinstance(kid, str) or kid in keys:
            raise KeyRefused("the key set holds a key without a name of its own", member="kid")
        keys[kid] = _raw(jwk)
    if not keys:
        raise KeyRefused("the key set holds no Ed25519 key")
    return keys


def _verifies(jwk: Mapping[str, Any]) -> bool:
    of_kind = (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519")
    return of_kind and jwk.get("use", "sig") == "sig" and jwk.get("alg", _ALG) in (_ALG, "Ed25519")


def _raw(jwk: Mapping[str, Any]) -> bytes:
    raw = decode_base64url(jwk.get("x"), "x")
    if len(raw) != _KEY_BYTES:
        raise KeyRefused(f"a key's x has {len(raw)} bytes, not {_KEY_BYTES}", member="x")
    return raw


def verify_receipt(jws: str, keys: Keys, expected: Mapping[str, Any] | None = None) -> Claims:
    """The claims of a receipt; `expected` maps members, dotted where nested, to their values."""
    return _verified(jws, keys, (expected or {}).items(), as_text=False)


def _check_receipt(claims: Claims) -> None:
    """What a receipt says has the form in which it says it."""
    notice, rights = claims.get("notice"), claims.get("rights")
    if not isinstance(claims.get("lawful_basis"), str):
        raise Refused("member lawful_basis is no text", member="lawful_basis")
    if not isinstance(rights, list) or not all(isinstance(right, str) for right in rights):
        raise Refused("member rights is no list of texts", member="rights")
    named = notice if isinstance(notice, Mapping) else {}
    if not all(isinstance(named.get(name), str) for name in ("version", "language")):
        raise Refused("member notice has no version and language", member="notice")


def verify_as_text(jws: str, keys: Keys, expected: Iterable[tuple[str, str]]) -> Claims:
    """The same where the expected values came in as text, from a command line."""
    return _verified(jws, keys, expected, as_text=True)


def _verified(jws: str, keys: Keys, expected: Iterable[tuple[str, Any]], *, as_text: bool) -> Claims:
    if len(jws) > _MAX_JWS_CHARS:
        raise Refused(f"the receipt is longer than {_MAX_JWS_CHARS} characters")
    parts = jws.split(".")
    if len(parts) != 3:
        raise Refused(f"the receipt is no compact JWS: it has {len(parts)} parts, not 3")
    header = parse_object(decode_base64url(parts[0], "the header"), "the header")
    key = _key_of(header, keys)
    signature = decode_base64url(parts[2], "the signature")
    # Only what was signed is parsed: the content comes after the signature.
    _check_signature(key, signature, f"{parts[0]}.{parts[1]}".encode("ascii"))
    claims = parse_object(decode_base64url(parts[1], "the receipt's content"), "the receipt's content")
    _check_receipt(claims)
    for member, value in expected:
        _compare(claims, member, value, as_text=as_text)
    return claims


def _key_of(header: Mapping[str, Any], keys: Keys) -> bytes:
    """The key that a protected header names, once the header is exactly `typ`, `alg` and `kid`."""
    for member, wanted in (("typ", _TYPE), ("alg", _ALG)):
        if header.get(member) != wanted:
            raise Refused(f"header member {member} is {shown(header.get(member))}, not {shown(wanted)}", member=member)
    if unknown := sorted(header.keys() - set(_MEMBERS)):
        raise Refused(f"header member {shown(unknown[0])} is refused", member=unknown[0])
    kid = header.get("kid")
    if not isinstance(kid, str) or kid not in keys:
        raise UnknownKey(f"kid {shown(kid)} is not among the {len(keys)} known keys", member="kid")
    return keys[kid]


def _check_signature(key: bytes, signature: bytes, signed: bytes) -> None:
    if len(signature) != _SIGNATURE_BYTES:
        raise CannotOpen(
            f"the receipt's signature has {len(signature)} bytes, not {_SIGNATURE_BYTES}", member="signature"
        )
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError) as error:
        raise CannotOpen("the receipt's signature does not hold: it was changed", member="signature") from error


def _compare(claims: Claims, path: str, wanted: Any, *, as_text: bool) -> None:
    found: Any = claims
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            raise Refused(f"the claims have no member {shown(path)}", member=path)
        found = found[name]
    if as_text and isinstance(found, dict | list):
        raise Refused(f"member {path} is no single value and cannot be compared as text", member=path)
    given = found if not as_text or isinstance(found, str) else json.dumps(found)
    if type(given) is not type(wanted) or given != wanted:
        raise Refused(f"member {path} is {shown(found)}, not {shown(wanted)}", member=path)
