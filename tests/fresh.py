"""Secrets for one run: nothing that a test needs is written down anywhere."""

import base64
import json
import os
import secrets

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def fresh_secrets() -> dict[str, str]:
    """The variables that the service will not start without."""
    return {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "DATA_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "RECEIPT_KEYS": json.dumps([signing_key()]),
        "LOG_KEYS": json.dumps([signing_key()]),
    }


def signing_key() -> dict[str, str]:
    """A private Ed25519 key as a JWK."""
    key = Ed25519PrivateKey.from_private_bytes(os.urandom(32))
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": _base64url(key.public_key().public_bytes_raw()),
        "d": _base64url(key.private_bytes_raw()),
    }


def _base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")
