"""Checks what a vault signed: Ed25519 keys as JWKs, and JWS that say exactly what they have to. It signs nothing.

The formats are the ones that the browser's modules and the bridge write; whatever this does not name is refused. Only
what was signed is parsed: the claims come after the signature.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from common.jose import ALG, EDDSA, base64url
from pkm.sealed import InvalidHeader, decode, json_object

Jwk = dict[str, str]
Claims = dict[str, Any]

MAX_JWS = 128 * 1024  # characters: claims that name 500 attributes are some 100 KiB
_MEMBERS = ("kty", "crv", "x")
_BYTES = 32
_MAX_NUMBER = 2**53 - 1  # the largest that every JSON reader takes exactly
_P = 2**255 - 19
_SIGN_BIT = 1 << 255
_COMPACT = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}\Z")
# the y of the eight points whose order divides 8: who is let in with one needs no private key to sign
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_LOW_ORDER = {0, 1, _P - 1, _ORDER_8, _P - _ORDER_8}
_D = -121665 * pow(121666, -1, _P) % _P


def check_public_key(jwk: object, member: str = "x") -> Jwk:
    """An Ed25519 key that is exactly {"kty", "crv", "x"}, on the curve and not of low order. Raises `InvalidHeader`."""
    if not isinstance(jwk, dict) or set(jwk) != set(_MEMBERS):
        raise InvalidHeader('is not exactly {"kty", "crv", "x"}', member)
    if (jwk["kty"], jwk["crv"]) != ("OKP", "Ed25519"):
        raise InvalidHeader("is not an Ed25519 key", member)
    raw = decode(jwk["x"], member, _BYTES)
    y = int.from_bytes(raw, "little") % _SIGN_BIT
    if y >= _P or y in _LOW_ORDER or not _on_curve(y):
        raise InvalidHeader("is not a point that anybody's signatures can be checked with", member)
    return {name: jwk[name] for name in _MEMBERS}


def _on_curve(y: int) -> bool:
    """Whether x² = (y² - 1) / (d·y² + 1) has a root (RFC 8032, 5.1.3)."""
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    return pow(square, (_P - 1) // 2, _P) in (0, 1)


def thumbprint(jwk: Mapping[str, str]) -> str:
    """The RFC 7638 thumbprint of a checked key: its `kid`, 43 characters of base64url."""
    canonical = json.dumps({name: jwk[name] for name in sorted(_MEMBERS)}, separators=(",", ":"))
    return sha256(canonical)


def sha256(text: str) -> str:
    """Base64url SHA-256 of ASCII text, as of a compact JWS or JWE."""
    return base64url(hashlib.sha256(text.encode("ascii")).digest())


def verified(text: str, *, typ: str, key: Jwk) -> Claims:
    """The claims of a compact JWS under this key, whose header is exactly alg, typ and kid. Raises `InvalidHeader`."""
    if len(text) > MAX_JWS or not _COMPACT.match(text):
        raise InvalidHeader("is not a compact JWS", "jws")
    for part in text.split("."):
        decode(part, "jws")
    _check_header(json_object(decode(text.split(".")[0], "header"), "header"), typ=typ, key=key)
    try:
        # the registry of joserfc would refuse the header's size only, which `MAX_JWS` bounds already
        found = jws.deserialize_compact(text, OKPKey.import_key(dict(key)), registry=EDDSA)
    except (JoseError, ValueError):
        raise InvalidHeader("was not made with this key, or was changed", "signature") from None
    return json_object(found.payload, "claims")


def verified_by_both(signed: object, *, typ: str, keys: tuple[Jwk, Jwk]) -> Claims:
    """The claims of a JWS in the general JSON form with exactly two signatures, of these keys in this order."""
    if not isinstance(signed, dict) or set(signed) != {"payload", "signatures"}:
        raise InvalidHeader("is not a JWS with two signatures", "jws")
    payload, signatures = signed["payload"], signed["signatures"]
    if not isinstance(payload, str) or not isinstance(signatures, list) or len(signatures) != len(keys):
        raise InvalidHeader("is not a JWS with two signatures", "jws")
    claims: Claims = {}
    for signature, key in zip(signatures, keys, strict=True):
        if not isinstance(signature, dict) or set(signature) != {"protected", "signature"}:
            raise InvalidHeader("is not a JWS with two signatures", "jws")
        claims = verified(f"{signature['protected']}.{payload}.{signature['signature']}", typ=typ, key=key)
    return claims


def unchecked_claims(signed: object) -> Claims:
    """What a JWS in the general JSON form says, whoever made it: only to learn which key to check it with."""
    payload = signed.get("payload") if isinstance(signed, dict) else None
    return json_object(decode(payload, "jws"), "claims")


def check_claims(claims: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse claims that are not exactly these, by the first that differs; the type counts too. `InvalidHeader`."""
    for name, value in expected.items():
        if name not in claims:
            raise InvalidHeader("is missing", name)
        if type(claims[name]) is not type(value) or claims[name] != value:
            raise InvalidHeader(f"is not {value!r}"[:300], name)
    for name in claims:
        if name not in expected:
            raise InvalidHeader("is not a claim of this", name[:64])


def number_of(claims: Mapping[str, Any], name: str) -> int:
    """A claim that is a whole number, as times are. Raises `InvalidHeader`."""
    value = claims.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MAX_NUMBER:
        raise InvalidHeader("is not a whole number", name)
    return value


def _check_header(header: Mapping[str, Any], *, typ: str, key: Jwk) -> None:
    expected = {"alg": ALG, "typ": typ, "kid": thumbprint(key)}
    for name, value in expected.items():
        if header.get(name) != value:
            raise InvalidHeader(f"is not {value!r}", name)
    for name in header:
        if name not in expected:
            raise InvalidHeader("does not belong in this header", name[:64])
