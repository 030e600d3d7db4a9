"""Wrappers of the vault key: what turns a passphrase, a written-down code or a passkey into the key itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
import unicodedata
from dataclasses import dataclass
from typing import Any, Literal

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

from consent_bridge import jwe
from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.errors import KeyRefused, Refused, shown
from consent_bridge.segments import VAULT_KEY_BYTES, check_vault_key

Kind = Literal["passphrase", "recovery", "passkey"]
KINDS: tuple[Kind, ...] = ("passphrase", "recovery", "passkey")

P2C = 250_000
MIN_P2C, MAX_P2C = 210_000, 1_000_000
MIN_PASSPHRASE_CHARS = 12
RECOVERY_CODE_BYTES = 20
PRF_OUTPUT_BYTES = 32
_P2S_BYTES = 16
_SALT_BYTES = 32
_TYP = "vault-key+jwe"
_GROUP = 4
_BETWEEN_LETTERS = re.compile(r"[\s\ufeff\u2010-\u2015\u2212-]")  # blanks and dashes, as the browser takes them


def _members(kind: Kind) -> dict[str, jwe.Check]:
    # `kind` first: a passkey's wrapper is refused as a recovery one for that.
    return {"kind": jwe.exactly(kind), "typ": jwe.exactly(_TYP), "kid": jwe.vault_key_name, "sub": jwe.text}


_NOTES: dict[str, jwe.Check] = {"notes": jwe.whole_number(1, 1)}
PROFILES: dict[Kind, jwe.Profile] = {
    "passphrase": jwe.Profile(
        name="passphrase wrapper",
        alg=jwe.ALG_PBES2,
        members={**_members("passphrase"), "p2s": jwe.octets(_P2S_BYTES), "p2c": jwe.whole_number(MIN_P2C, MAX_P2C)},
        optional=_NOTES,
    ),
    "recovery": jwe.Profile(
        name="recovery wrapper",
        alg=jwe.ALG_VAULT,
        members={**_members("recovery"), "salt": jwe.octets(_SALT_BYTES)},
        optional=_NOTES,
    ),
    "passkey": jwe.Profile(
        name="passkey wrapper",
        alg=jwe.ALG_VAULT,
        members={**_members("passkey"), "salt": jwe.octets(_SALT_BYTES)},
        optional=_NOTES,
    ),
}
_POSSESSION_INFO = b"consent-vault-possession"
_INFO: dict[Kind, bytes] = {"recovery": b"consent-vault-recovery", "passkey": b"consent-vault-passkey"}


@dataclass(frozen=True)
class VaultKey:
    """The key itself and its name; never sent anywhere, never printed by accident.

    `has_notes`: its vault was made with notes, as the way in says; without them nothing is approved.
    """

    key_id: str
    secret: bytes
    has_notes: bool = False

    def __repr__(self) -> str:
        return f"VaultKey(key_id={self.key_id!r})"


def generate_vault_key() -> VaultKey:
    """A fresh vault key with a fresh name."""
    name = base64.b32encode(secrets.token_bytes(16)).decode("ascii").rstrip("=").lower()
    return VaultKey(key_id=f"vk_{name}", secret=secrets.token_bytes(VAULT_KEY_BYTES))


def possession(vault_key: VaultKey) -> str:
    """What shows the server that one holds this key, when it is to be replaced; it gives nothing of the key away."""
    derived = HKDF(hashes.SHA256(), VAULT_KEY_BYTES, None, _POSSESSION_INFO).derive(vault_key.secret)
    return encode_base64url(derived)


def possession_digest(vault_key: VaultKey) -> str:
    """What the server keeps of it: the SHA-256, in hexadecimal."""
    return hashlib.sha256(possession(vault_key).encode("ascii")).hexdigest()


def generate_recovery_code() -> str:
    """160 random bits in base32, in groups of four, to be written down."""
    letters = base64.b32encode(secrets.token_bytes(RECOVERY_CODE_BYTES)).decode("ascii")
    return "-".join(letters[start : start + _GROUP] for start in range(0, len(letters), _GROUP))


def read_recovery_code(code: str) -> bytes:
    """The 20 bytes of a code as a person types it: letter case, spaces and dashes do not matter."""
    letters = _BETWEEN_LETTERS.sub("", unicodedata.normalize("NFKC", code)).upper()
    try:
        raw = base64.b32decode(letters)
    except (binascii.Error, ValueError) as error:
        raise KeyRefused("the recovery code has a letter that no code has, or one too many or too few") from error
    if len(raw) != RECOVERY_CODE_BYTES:
        raise KeyRefused("the recovery code is not 32 letters long")
    return raw


def _passphrase_key(passphrase: str, header: jwe.Header) -> bytes:
    try:
        secret = unicodedata.normalize("NFKC", passphrase).encode("utf-8")
    except UnicodeEncodeError as error:
        raise KeyRefused("the passphrase holds a lone surrogate") from error
    salt = jwe.ALG_PBES2.encode("ascii") + b"\x00" + decode_base64url(header["p2s"], "p2s")
    return PBKDF2HMAC(hashes.SHA512(), VAULT_KEY_BYTES, salt, header["p2c"]).derive(secret)


def _hkdf_key(secret: bytes, kind: Kind, header: jwe.Header) -> bytes:
    salt = decode_base64url(header["salt"], "salt")
    return HKDF(hashes.SHA256(), VAULT_KEY_BYTES, salt, _INFO[kind]).derive(secret)


def _wrapping_key(kind: Kind, secret: str, header: jwe.Header) -> bytes:
    if kind == "passphrase":
        if not secret:
            raise KeyRefused("the passphrase is empty")
        return _passphrase_key(secret, header)
    return _hkdf_key(read_recovery_code(secret) if kind == "recovery" else _prf_output(secret), kind, header)


def _prf_output(text: str) -> bytes:
    try:
        raw = bytes.fromhex(text.strip())
    except ValueError as error:
        raise KeyRefused("the passkey's output is not hexadecimal") from error
    if len(raw) != PRF_OUTPUT_BYTES:
        raise KeyRefused(f"the passkey's output has {len(raw)} bytes, not {PRF_OUTPUT_BYTES}")
    return raw


def wrap(vault_key: VaultKey, kind: Kind, secret: str, user_id: str, *, p2c: int = P2C) -> str:
    """The vault key as a wrapper; `secret` is the passphrase, the recovery code, or the passkey's output in hex."""
    if kind == "passphrase" and len(unicodedata.normalize("NFKC", secret)) < MIN_PASSPHRASE_CHARS:
        raise KeyRefused(f"the passphrase is shorter than {MIN_PASSPHRASE_CHARS} characters")
    header: dict[str, Any] = {"typ": _TYP, "kid": vault_key.key_id, "sub": user_id, "kind": kind}
    if vault_key.has_notes:
        header["notes"] = 1
    if kind == "passphrase":
        # Before the derivation, so that a count out of bounds costs nothing.
        jwe.whole_number(MIN_P2C, MAX_P2C)("p2c", p2c)
        header |= {"p2c": p2c, "p2s": encode_base64url(secrets.token_bytes(_P2S_BYTES))}
    else:
        header["salt"] = encode_base64url(secrets.token_bytes(_SALT_BYTES))
    key = jwe.symmetric(_wrapping_key(kind, secret, header))
    return jwe.seal(header, check_vault_key(vault_key.secret), key, PROFILES[kind])


def unwrap(sealed: str, kind: Kind, secret: str, *, user_id: str | None = None, key_id: str | None = None) -> VaultKey:
    """The vault key out of a wrapper of this kind; `user_id` and `key_id` are compared where they are given."""
    if kind not in PROFILES:
        raise KeyRefused(f"{shown(kind)} is no kind of wrapper", member="kind")
    header = jwe.read_header(sealed, PROFILES[kind])
    expected = {"sub": user_id, "kid": key_id}
    jwe.equal({member: value for member, value in expected.items() if value is not None})(header)
    plaintext = jwe.open_sealed(sealed, jwe.symmetric(_wrapping_key(kind, secret, header)), "wrapper")
    try:
        return VaultKey(header["kid"], check_vault_key(plaintext), has_notes="notes" in header)
    except KeyRefused as refused:
        raise Refused(f"the wrapper's content is no vault key: {refused.reason}") from refused
