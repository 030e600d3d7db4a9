"""Connector keys: made, checked and named. A key is checked before anything is sealed to it or opened with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import rfc8785
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from joserfc.jwk import ECKey, OKPKey

from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.errors import KeyRefused, Refused, shown

Curve = Literal["X25519", "P-256"]
Jwk = dict[str, str]

CURVES: tuple[Curve, ...] = ("X25519", "P-256")
_PUBLIC_MEMBERS: Mapping[Curve, tuple[str, ...]] = {"X25519": ("kty", "crv", "x"), "P-256": ("kty", "crv", "x", "y")}
_KEY_TYPE: Mapping[Curve, str] = {"X25519": "OKP", "P-256": "EC"}
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_COORDINATE_BYTES = 32


def check_connector_key(jwk: object, *, tolerate: bool = True) -> Jwk:
    """The public JWK of an app, reduced to the members that count.

    Refuses with KeyRefused: another type or curve, private members, coordinates that are not strict base64url of 32
    bytes, a point off the curve, and a point of low order (found by a trial agreement). Members that are not understood
    are ignored (RFC 7517, 4); without `tolerate`, as for the `epk` of a header, they are refused.
    """
    try:
        public = _public_members(jwk, tolerate=tolerate)
        _load_public(public)
    except KeyRefused:
        raise
    except Refused as refused:
        raise KeyRefused(f"the key's {refused.reason}", member=refused.member) from refused
    return public


def _public_members(jwk: object, *, tolerate: bool) -> Jwk:
    if not isinstance(jwk, Mapping):
        raise KeyRefused("the key is not a JSON object")
    curve = _curve_of(jwk)
    if private := sorted(_PRIVATE & jwk.keys()):
        raise KeyRefused(f"the key has a private member: {private[0]}", member=private[0])
    unknown = sorted(str(member) for member in jwk.keys() - {*_PUBLIC_MEMBERS[curve]})
    if unknown and not tolerate:
        raise KeyRefused(f"the key has an unknown member: {shown(unknown[0])}", member=unknown[0])
    return {member: jwk[member] for member in _PUBLIC_MEMBERS[curve] if _present(jwk, member)}


def _curve_of(jwk: Mapping[str, Any]) -> Curve:
    kty, crv = jwk.get("kty"), jwk.get("crv")
    if kty not in ("OKP", "EC"):
        raise KeyRefused(f"kty {shown(kty)} is not a key agreement key that we take", member="kty")
    for curve in CURVES:
        if crv == curve and kty == _KEY_TYPE[curve]:
            return curve
    raise KeyRefused(f"crv {shown(crv)} of kty {kty} is not X25519 or P-256", member="crv")


def _present(jwk: Mapping[str, Any], member: str) -> bool:
    if member not in jwk:
        raise KeyRefused(f"the key has no {member}", member=member)
    return True


def _coordinate(jwk: Mapping[str, Any], member: str) -> bytes:
    data = decode_base64url(jwk[member], member)
    if len(data) != _COORDINATE_BYTES:
        raise KeyRefused(f"the key's {member} has {len(data)} bytes, not {_COORDINATE_BYTES}", member=member)
    return data


def _load_public(public: Mapping[str, Any]) -> X25519PublicKey | ec.EllipticCurvePublicKey:
    x = _coordinate(public, "x")
    if public["crv"] == "X25519":
        return _load_x25519(x)
    y = _coordinate(public, "y")
    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), ec.SECP256R1())
    try:
        point = numbers.public_key()
        ec.generate_private_key(ec.SECP256R1()).exchange(ec.ECDH(), point)
    except ValueError as error:
        raise KeyRefused("the key's point is not on the curve P-256", member="x") from error
    return point


def _load_x25519(x: bytes) -> X25519PublicKey:
    point = X25519PublicKey.from_public_bytes(x)
    try:
        X25519PrivateKey.generate().exchange(point)
    except ValueError as error:
        raise KeyRefused("the key is a low-order point: a trial agreement failed", member="x") from error
    return point


def check_private_key(jwk: object) -> Jwk:
    """A private JWK with its public members; refuses one whose halves do not belong together."""
    if not isinstance(jwk, Mapping):
        raise KeyRefused("the key is not a JSON object")
    if "d" not in jwk:
        raise KeyRefused("the key is not private: it has no d", member="d")
    public = check_connector_key({member: value for member, value in jwk.items() if member != "d"})
    try:
        secret = _coordinate(jwk, "d")
        computed = _public_of(public["crv"], secret)
    except KeyRefused:
        raise
    except (Refused, ValueError) as error:
        raise KeyRefused("the key's d is not a private key of its curve", member="d") from error
    if computed != public:
        raise KeyRefused("the key's d does not belong to its public members", member="d")
    return {**public, "d": str(jwk["d"])}


def _public_of(curve: str, secret: bytes) -> Jwk:
    if curve == "X25519":
        raw = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
        return {"kty": "OKP", "crv": "X25519", "x": encode_base64url(raw)}
    numbers = ec.derive_private_key(int.from_bytes(secret), ec.SECP256R1()).public_key().public_numbers()
    x, y = (encode_base64url(value.to_bytes(_COORDINATE_BYTES)) for value in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def generate_connector_key(curve: Curve = "X25519") -> Jwk:
    """A fresh private JWK for one app or one machine."""
    if curve == "X25519":
        secret = X25519PrivateKey.generate().private_bytes_raw()
    elif curve == "P-256":
        value = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        secret = value.to_bytes(_COORDINATE_BYTES)
    else:
        raise KeyRefused(f"crv {shown(curve)} is not X25519 or P-256", member="crv")
    return {**_public_of(curve, secret), "d": encode_base64url(secret)}


def public_half(private: Mapping[str, Any]) -> Jwk:
    checked = check_private_key(private)
    return {member: value for member, value in checked.items() if member != "d"}


def thumbprint(jwk: Mapping[str, Any]) -> str:
    """The RFC 7638 thumbprint of a connector key (SHA-256, base64url), of either half."""
    public = check_connector_key({member: value for member, value in jwk.items() if member != "d"})
    return encode_base64url(hashlib.sha256(rfc8785.dumps(dict(public))).digest())


def jose_key(checked: Mapping[str, str]) -> OKPKey | ECKey:
    """A checked JWK as the JOSE library wants it."""
    return OKPKey.import_key(dict(checked)) if checked["kty"] == "OKP" else ECKey.import_key(dict(checked))
