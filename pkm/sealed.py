"""Reads and checks the protected headers of sealed data, and the public keys it is sealed to. It cannot open anything.

The formats are the ones that the browser's modules and the bridge write; whatever this does not name is refused.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, x25519

from common.jose import base64url, from_base64url

KEY_ID = re.compile(r"[A-Za-z0-9._~-]{1,128}\Z")
MIN_ITERATIONS, MAX_ITERATIONS = 210_000, 1_000_000
MAX_SEALED = 16 * 1024 * 1024  # characters of a compact JWE
_MAX_HEADER = 8192  # characters of its protected header
_PART = re.compile(r"[A-Za-z0-9_-]*\Z")
_FORBIDDEN = re.compile(r"(?:zip|crit|apu|apv|jku|jwk|x5.*)\Z")
_IV, _TAG, _WRAPPED_KEY = 12, 16, 40  # bytes: AES-GCM's nonce and tag, and a 32-byte content key under AES-KW
_COORDINATE = 32  # bytes, on both curves
_PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
_KEY_MEMBERS = {("OKP", "X25519"): ("kty", "crv", "x"), ("EC", "P-256"): ("kty", "crv", "x", "y")}
_CURVE_NAMES = {"X25519": "OKP", "P-256": "EC"}

CONNECTOR_CURVES = ("X25519", "P-256")
LEGACY_ALGS = ("PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW")
_LEGACY_ITERATIONS = (1_000, 1_000_000)
SEGMENT_ALG, EXPORT_ALG, PASSPHRASE_ALG, ENC = "A256KW", "ECDH-ES+A256KW", "PBES2-HS512+A256KW", "A256GCM"

Header = dict[str, Any]


class InvalidHeader(ValueError):
    """Sealed data or a key that must not be taken: why, and the member that it is about ("" where about none)."""

    def __init__(self, reason: str, member: str = "") -> None:
        self.reason = reason
        self.member = member
        super().__init__(f"{member}: {reason}" if member else reason)


def decode(text: object, member: str, length: int | None = None) -> bytes:
    """Strict base64url: no padding, no other alphabet, no stray bits at the end, exactly `length` bytes."""
    if not isinstance(text, str) or not _PART.match(text):
        raise InvalidHeader("is not base64url", member)
    try:
        raw = from_base64url(text)
    except ValueError:
        raise InvalidHeader("is not base64url", member) from None
    if base64url(raw) != text:
        raise InvalidHeader("is not canonical base64url", member)
    if length is not None and len(raw) != length:
        raise InvalidHeader(f"has {len(raw)} bytes instead of {length}", member)
    return raw


def read_header(jwe: str) -> Header:
    """The protected header of a compact JWE whose five parts have the sizes that `A256GCM` under AES-KW gives them.

    Raises `InvalidHeader`: another form, over 16 MiB, a header over 8 KiB, a member twice, `zip`, `crit` and the like.
    """
    if len(jwe) > MAX_SEALED:
        raise InvalidHeader("is larger than 16 MiB")
    parts = jwe.split(".")
    if len(parts) != 5:
        raise InvalidHeader("is not a compact JWE")
    if len(parts[0]) > _MAX_HEADER:
        raise InvalidHeader("has a protected header over 8 KiB")
    header = json_object(decode(parts[0], "protected header"), "protected header")
    decode(parts[1], "encrypted key", _WRAPPED_KEY)
    decode(parts[2], "iv", _IV)
    # the ciphertext may be megabytes: its alphabet and its last character are enough, since nobody opens it here
    if not _PART.match(parts[3]) or len(parts[3]) % 4 == 1 or not parts[3]:
        raise InvalidHeader("is not base64url", "ciphertext")
    tail = parts[3][-(len(parts[3]) % 4 or 4) :]
    decode(tail, "ciphertext")
    decode(parts[4], "tag", _TAG)
    for member in header:
        if _FORBIDDEN.match(member):
            raise InvalidHeader("must not stand in a header", member)
    return header


def check_segment_header(
    header: Mapping[str, Any], *, key_id: str, user_id: str, domain: str, segment_id: str, content_revision: int
) -> None:
    """Refuse a segment that is sealed under another key or for another person, address or revision."""
    expected = {
        "alg": SEGMENT_ALG,
        "enc": ENC,
        "typ": "pkm-segment+jwe",
        "kid": key_id,
        "sub": user_id,
        "domain": domain,
        "segment_id": segment_id,
        "content_revision": content_revision,
    }
    _only(header, expected)
    _same(header, expected)


def check_wrapper_header(header: Mapping[str, Any], *, key_id: str, user_id: str, kind: str) -> None:
    """Refuse a wrapper of another kind, person or vault, or one whose passphrase would be too cheap to guess."""
    passphrase = kind == "passphrase"
    expected: Header = {
        "alg": PASSPHRASE_ALG if passphrase else SEGMENT_ALG,
        "enc": ENC,
        "typ": "vault-key+jwe",
        "kid": key_id,
        "sub": user_id,
        "kind": kind,
    }
    parameters = ("p2s", "p2c") if passphrase else ("salt",)
    if "notes" in header:  # of a vault that was made with notes: without them a client goes on with nothing
        expected["notes"] = 1
    _only(header, (*expected, *parameters))
    _same(header, expected)
    if not passphrase:
        decode(header["salt"], "salt", 32)
        return
    decode(header["p2s"], "p2s", 16)
    if not _is_number(header["p2c"]) or not MIN_ITERATIONS <= header["p2c"] <= MAX_ITERATIONS:
        raise InvalidHeader(f"must lie between {MIN_ITERATIONS} and {MAX_ITERATIONS}", "p2c")


def check_root_header(header: Mapping[str, Any], *, key_id: str, user_id: str) -> None:
    """Refuse an approval root that is sealed under another vault key or for another person."""
    expected = {"alg": SEGMENT_ALG, "enc": ENC, "typ": "vault-signing-root+jwe", "kid": key_id, "sub": user_id}
    _only(header, expected)
    _same(header, expected)


def check_notes_header(header: Mapping[str, Any], *, key_id: str, user_id: str, revision: int) -> None:
    """Refuse the vault's own notes where they are sealed under another key or at another revision."""
    fixed = {"alg": SEGMENT_ALG, "enc": ENC, "typ": "vault-notes+jwe"}
    expected = {**fixed, "kid": key_id, "sub": user_id, "revision": revision}
    _only(header, expected)
    _same(header, expected)


def check_legacy_header(header: Mapping[str, Any]) -> None:
    """Refuse what no browser would open with the old passphrase.

    The old system chose the passphrase's algorithm, salt and iterations; refusing the weaker ones would only lose what
    is sealed under them.
    """
    for member in header:
        if member not in ("alg", "enc", "p2s", "p2c", "typ", "cty", "kid"):
            raise InvalidHeader("does not belong in this header", member[:64])
    if header.get("alg") not in LEGACY_ALGS:
        raise InvalidHeader("is not sealed under a passphrase", "alg")
    if header.get("enc") != ENC:
        raise InvalidHeader(f"is not {ENC!r}", "enc")
    least, most = _LEGACY_ITERATIONS
    if not _is_number(header.get("p2c")) or not least <= header["p2c"] <= most:
        raise InvalidHeader(f"must lie between {least} and {most}", "p2c")
    if not 8 <= len(decode(header.get("p2s"), "p2s")) <= 64:
        raise InvalidHeader("has not between 8 and 64 bytes", "p2s")


def check_export_header(header: Mapping[str, Any], expected: Mapping[str, Any], *, curve: str) -> None:
    """Refuse an export whose header differs from the request; the first member that differs is named.

    `expected` holds kid, iss, sub, aud, request_id, scope, revision and request_digest; `curve` is the connector's.
    """
    fixed = {"alg": EXPORT_ALG, "enc": ENC, "typ": "consent-export+jwe", "cty": "application/json", **expected}
    _only(header, (*fixed, "epk"))
    _same(header, fixed)
    epk = header["epk"]
    if not isinstance(epk, dict) or epk.get("crv") != curve:
        raise InvalidHeader(f"is not on the connector's curve {curve}", "epk")
    if set(epk) != set(_KEY_MEMBERS[_CURVE_NAMES[curve], curve]):
        raise InvalidHeader("is not exactly a public key", "epk")
    try:
        _agree(epk)
    except InvalidHeader as unfit:
        raise InvalidHeader(unfit.reason, "epk") from None


def check_connector_key(jwk: object) -> dict[str, str]:
    """The public key that an app wants its data sealed to, with nothing but its own members.

    What else it says is dropped, as RFC 7517 (4) asks for: browsers add `ext` and `key_ops`, others `kid`, `use` and
    `alg`. Raises `InvalidHeader`: another type or curve, private members, sloppy base64url, a point off the curve, a
    point with which no key agreement is safe.
    """
    if not isinstance(jwk, dict):
        raise InvalidHeader("is not a JSON Web Key", "connector_public_key")
    members = _KEY_MEMBERS.get((_text(jwk, "kty"), _text(jwk, "crv")))
    if members is None:
        raise InvalidHeader("is neither an X25519 nor a P-256 key", "crv" if "crv" in jwk else "kty")
    for member in jwk:
        if member in _PRIVATE:
            raise InvalidHeader("is a private member; send the public key only", member)
    for member in members:
        if not isinstance(jwk.get(member), str):
            raise InvalidHeader("must be a text in base64url", member)
    key = {member: jwk[member] for member in members}
    _agree(key)
    return key


def thumbprint(jwk: Mapping[str, str]) -> str:
    """The RFC 7638 thumbprint of a key that `check_connector_key` returned: 43 characters of base64url."""
    members = _KEY_MEMBERS[jwk["kty"], jwk["crv"]]
    canonical = json.dumps({member: jwk[member] for member in sorted(members)}, separators=(",", ":"))
    return base64url(hashlib.sha256(canonical.encode()).digest())


def _agree(jwk: Mapping[str, Any]) -> None:
    """A trial key agreement with a key of our own: the surest way to learn that sealing to this one will work."""
    x = decode(jwk.get("x"), "x", _COORDINATE)
    if jwk.get("kty") != _CURVE_NAMES.get(str(jwk.get("crv"))):
        raise InvalidHeader("does not go with the curve", "kty")
    try:
        if jwk["crv"] == "X25519":
            x25519.X25519PrivateKey.generate().exchange(x25519.X25519PublicKey.from_public_bytes(x))
            return
        y = decode(jwk.get("y"), "y", _COORDINATE)
        point = ec.EllipticCurvePublicNumbers(int.from_bytes(x), int.from_bytes(y), ec.SECP256R1()).public_key()
        ec.generate_private_key(ec.SECP256R1()).exchange(ec.ECDH(), point)
    except InvalidHeader:
        raise
    except ValueError:
        raise InvalidHeader("is not a point that a key can be agreed with", "x") from None


def json_object(raw: bytes, what: str) -> dict[str, Any]:
    """The object that is written there, as every reader of JSON reads it. Raises `InvalidHeader` of `what`."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InvalidHeader("names a member twice", what)
        return found

    def no_constant(name: str) -> None:
        raise InvalidHeader(f"holds {name}, which is not JSON", what)

    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_constant)
        json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate fails here, and not in an answer
    except InvalidHeader:
        raise
    except (ValueError, RecursionError):
        raise InvalidHeader("is not JSON", what) from None
    if not isinstance(found, dict):
        raise InvalidHeader("is not an object", what)
    return found


def _only(header: Mapping[str, Any], members: Mapping[str, Any] | tuple[str, ...]) -> None:
    for member in members:
        if member not in header:
            raise InvalidHeader("is missing from the header", member)
    for member in header:
        if member not in members:
            raise InvalidHeader("does not belong in this header", member[:64])


def _same(header: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for member, value in expected.items():
        # the type too: 1.0 and True equal 1 here, and nowhere else
        if type(header[member]) is not type(value) or header[member] != value:
            raise InvalidHeader(f"is not {value!r}", member)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(jwk: Mapping[str, Any], member: str) -> str:
    value = jwk.get(member)
    return value if isinstance(value, str) else ""
