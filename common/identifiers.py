"""Opaque identifiers: a prefix that says what it is, and 128 random bits in lower-case base32; digests of secrets."""

import base64
import hashlib
import re
import secrets

_FORM = re.compile(r"[A-Za-z0-9_]{1,64}\Z")


def new_identifier(prefix: str) -> str:
    """For example `usr_t2zp3gog7m6odtqhjuqhpevyku`."""
    return f"{prefix}_{base64.b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


def is_identifier(text: str) -> bool:
    """Whether `text` could be one of our names; what could not is unknown, and never reaches the database."""
    return _FORM.match(text) is not None


def secret_digest(secret: str) -> str:
    """What is kept in place of a random secret, and finds it again: SHA-256, in hexadecimal. 128 bits need no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()
