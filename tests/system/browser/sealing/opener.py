"""An independent opener, straight over `cryptography`: what the browser seals opens without our code or its library."""

import base64
import json
import struct
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

ZEROS = bytes(12)


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def b64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def header_of(jwe: str) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(unb64(jwe.split(".")[0]))
    return header


def content(jwe: str, wrapping_key: bytes) -> bytes:
    return opened(jwe, wrapping_key)[0]


def content_key_and_nonce(jwe: str, wrapping_key: bytes) -> tuple[bytes, bytes]:
    """What it was sealed with, shown by its opening with them."""
    return opened(jwe, wrapping_key)[1:]


def opened(jwe: str, wrapping_key: bytes) -> tuple[bytes, bytes, bytes]:
    """The content, the content key and the nonce."""
    protected, encrypted_key, iv, ciphertext, tag = jwe.split(".")
    key, nonce = aes_key_unwrap(wrapping_key, unb64(encrypted_key)), unb64(iv)
    return AESGCM(key).decrypt(nonce, unb64(ciphertext) + unb64(tag), protected.encode()), key, nonce


def agreed(jwe: str, private_jwk: dict[str, str]) -> bytes:
    """ECDH-ES+A256KW, RFC 7518 4.6: Concat KDF over the agreed secret."""
    epk = header_of(jwe)["epk"]
    if epk["crv"] == "X25519":
        theirs = X25519PublicKey.from_public_bytes(unb64(epk["x"]))
        secret = X25519PrivateKey.from_private_bytes(unb64(private_jwk["d"])).exchange(theirs)
    else:
        x, y, d = (int.from_bytes(unb64(text), "big") for text in (epk["x"], epk["y"], private_jwk["d"]))
        point = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        secret = ec.derive_private_key(d, ec.SECP256R1()).exchange(ec.ECDH(), point)
    algorithm = b"ECDH-ES+A256KW"
    info = struct.pack(">I", len(algorithm)) + algorithm + struct.pack(">III", 0, 0, 256)
    return ConcatKDFHash(hashes.SHA256(), 32, info).derive(secret)


def open_export(jwe: str, private_jwk: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content(jwe, agreed(jwe, private_jwk)))
    return found


def open_segment(jwe: str, vault_key: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(content(jwe, vault_key))
    return found


def passphrase_key(jwe: str, passphrase: str) -> bytes:
    header = header_of(jwe)
    salt = header["alg"].encode() + b"\0" + unb64(header["p2s"])
    return PBKDF2HMAC(hashes.SHA512(), 32, salt, header["p2c"]).derive(passphrase.encode())


def derived_key(jwe: str, secret: bytes, info: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, unb64(header_of(jwe)["salt"]), info).derive(secret)


def from_passphrase(jwe: str, passphrase: str) -> bytes:
    return content(jwe, passphrase_key(jwe, passphrase))


def from_secret(jwe: str, secret: bytes, info: bytes) -> bytes:
    return content(jwe, derived_key(jwe, secret, info))


def recovery_octets(code: str) -> bytes:
    return base64.b32decode(code.replace("-", ""))


def seal(header: dict[str, Any] | str, plaintext: bytes, wrapping_key: bytes) -> str:
    """A256KW with whatever header is given, right or wrong (a string stands for itself): for sealing hostile things."""
    text = header if isinstance(header, str) else json.dumps(header)
    protected = b64(text.encode())
    key = AESGCM.generate_key(256)
    sealed = AESGCM(key).encrypt(ZEROS, plaintext, protected.encode())
    return ".".join([protected, b64(aes_key_wrap(wrapping_key, key)), b64(ZEROS), b64(sealed[:-16]), b64(sealed[-16:])])
