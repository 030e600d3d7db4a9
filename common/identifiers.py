"""Opaque identifiers: a prefix that says what it is, and 128 random bits in lower-case base32."""

import base64
import secrets


def new_identifier(prefix: str) -> str:
    """For example `usr_t2zp3gog7m6odtqhjuqhpevyku`."""
    return f"{prefix}_{base64.b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"
