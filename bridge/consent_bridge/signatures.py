"""What a vault signs: Ed25519 keys as JWKs, and JWS that say exactly what they have to. Made and checked here.

Header and claims are decided before any key is touched; only what was signed is parsed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from consent_bridge.encoding import decode_base64url, dump_json, encode_base64url, parse_object
from consent_bridge.errors import CannotOpen, KeyRefused, Refused, shown

Jwk = dict[str, str]
Claims = dict[str, Any]

ALG = "EdDSA"
_MAX_JWS_CHARS = 128 * 1024
_MEMBERS = ("crv", "kty", "x")
_BYTES = 32
_MAX_NUMBER = 2**53 - 1  # the largest that every JSON reader takes exactly
_P = 2**255 - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# the y of the points whose order divides 8: with one of these, signatures are made without any private key
_LOW_ORDER = {0, 1, _P - 1, _ORDER_8, _P - _ORDER_8}


@dataclass(frozen=True)
class SigningKey:
    """An Ed25519 key pair, made of 32 bytes."""

    seed: bytes

    @property
    def public(self) -> Jwk:
        """Exactly {"kty", "crv", "x"}."""
        raw = Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()
        return {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(raw)}

    def sign(self, typ: str, claims: Mapping[str, Any]) -> str:
        """A compact JWS."""
        return self.sign_payload(typ, encode_base64url(dump_json(dict(claims), "the claims")))

    def sign_payload(self, typ: str, payload: str) -> str:
        """The same of a payload that is base64url already."""
        header = {"alg": ALG, "typ": typ, "kid": thumbprint(self.public)}
        signed = f"{encode_base64url(dump_json(header, 'the header'))}.{payload}"
        signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(signed.encode("ascii"))
        return f"{signed}.{encode_base64url(signature)}"


def sign_by_both(typ: str, claims: Mapping[str, Any], keys: tuple[SigningKey, SigningKey]) -> dict[str, Any]:
    """A JWS in the general JSON form, with a signature of each key."""
    payload = encode_base64url(dump_json(dict(claims), "the claims"))
    parts = [key.sign_payload(typ, payload).split(".") for key in keys]
    signatures = [{"protected": header, "signature": signature} for header, _, signature in parts]
    return {"payload": payload, "signatures": signatures}


def check_public_key(jwk: object, what: str = "the key") -> Jwk:
    """An Ed25519 key that is exactly {"kty", "crv", "x"} and not of low order; KeyRefused else."""
    if not isinstance(jwk, Mapping) or sorted(jwk) != list(_MEMBERS):
        raise KeyRefused(f'{what} is not exactly {{"kty", "crv", "x"}}')
    for member, wanted in (("kty", "OKP"), ("crv", "Ed25519")):
        if jwk[member] != wanted:
            raise KeyRefused(f"{what}'s {member} is {shown(jwk[member])}, not {wanted}", member=member)
    try:
        raw = decode_base64url(jwk["x"], "x")
    except Refused as refused:
        raise KeyRefused(f"{what}'s {refused.reason}", member="x") from refused
    y = int.from_bytes(raw, "little") % 2**255
    if len(raw) != _BYTES or y >= _P or y in _LOW_ORDER:
        raise KeyRefused(f"{what}'s x is not a point that signatures can be checked with", member="x")
    return {"kty": "OKP", "crv": "Ed25519", "x": str(jwk["x"])}


def thumbprint(jwk: Mapping[str, str]) -> str:
    """The RFC 7638 thumbprint of a checked key, which is its `kid`."""
    return sha256(rfc8785.dumps(dict(jwk)))


def sha256(data: bytes | str) -> str:
    """Base64url SHA-256, of text in ASCII."""
    return encode_base64url(hashlib.sha256(data.encode("ascii") if isinstance(data, str) else data).digest())


def verified(jws: str, typ: str, key: Mapping[str, str], what: str) -> Claims:
    """The claims of a compact JWS of this type under this checked key; Refused, naming the member, else."""
    if not isinstance(jws, str) or len(jws) > _MAX_JWS_CHARS or jws.count(".") != 2:
        raise Refused(f"{what} is no compact JWS")
    header, payload, signature = jws.split(".")
    _check_header(parse_object(decode_base64url(header, f"{what}'s header"), f"{what}'s header"), typ, key, what)
    raw = decode_base64url(signature, "signature")
    try:
        Ed25519PublicKey.from_public_bytes(decode_base64url(key["x"], "x")).verify(raw, f"{header}.{payload}".encode())
    except (InvalidSignature, ValueError) as error:
        raise CannotOpen(f"{what}'s signature does not hold: it was changed", member="signature") from error
    return parse_object(decode_base64url(payload, f"{what}'s content"), f"{what}'s content")


def verified_by_both(signed: object, typ: str, keys: tuple[Mapping[str, str], Mapping[str, str]], what: str) -> Claims:
    """The claims of a JWS in the general JSON form with exactly two signatures, of these keys in this order."""
    claims: Claims = {}
    payload, signatures = _general(signed, what)
    for (header, signature), key in zip(signatures, keys, strict=True):
        claims = verified(f"{header}.{payload}.{signature}", typ, key, what)
    return claims


def unchecked_claims(signed: object, what: str) -> Claims:
    """What such a JWS says, whoever made it: only to learn which keys to check it with."""
    return parse_object(decode_base64url(_general(signed, what)[0], what), what)


def _general(signed: object, what: str) -> tuple[str, list[tuple[str, str]]]:
    refused = Refused(f"{what} is no JWS with two signatures")
    if not isinstance(signed, Mapping) or signed.keys() != {"payload", "signatures"}:
        raise refused
    payload, signatures = signed["payload"], signed["signatures"]
    if not isinstance(payload, str) or not isinstance(signatures, list) or len(signatures) != 2:
        raise refused
    parts = []
    for one in signatures:
        if not isinstance(one, Mapping) or one.keys() != {"protected", "signature"}:
            raise refused
        parts.append((str(one["protected"]), str(one["signature"])))
    return payload, parts


def check_claims(claims: Mapping[str, Any], expected: Mapping[str, Any], what: str) -> None:
    """Refused where the claims are not exactly these, by the first that differs; the type counts too."""
    for name, wanted in expected.items():
        found = claims.get(name)
        if name not in claims or type(found) is not type(wanted) or found != wanted:
            raise Refused(f"{what}'s {name} is {shown(found)}, not {shown(wanted)}", member=name)
    if unknown := sorted(claims.keys() - expected.keys()):
        raise Refused(f"{what} has an unknown claim {shown(unknown[0])}", member=unknown[0])


def number_of(claims: Mapping[str, Any], name: str, what: str) -> int:
    """A claim that is a whole number, as times are."""
    value = claims.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MAX_NUMBER:
        raise Refused(f"{what}'s {name} is not a whole number", member=name)
    return value


def _check_header(header: Mapping[str, Any], typ: str, key: Mapping[str, str], what: str) -> None:
    expected = {"alg": ALG, "typ": typ, "kid": thumbprint(key)}
    for member, wanted in expected.items():
        if header.get(member) != wanted:
            found = shown(header.get(member))
            raise Refused(f"{what}'s header member {member} is {found}, not {shown(wanted)}", member=member)
    if unknown := sorted(header.keys() - expected.keys()):
        raise Refused(f"{what}'s header member {shown(unknown[0])} is refused", member=unknown[0])
