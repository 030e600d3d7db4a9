"""Opaque identifiers: a prefix that says what it is, and 128 random bits in lower-case base32."""

import base64
import re
import secrets

_FORM = re.compile(r"[A-Za-z0-9_]{1,64}\Z")


def new_identifier(prefix: str) -> str:
    """For example `usr_t2zp3gog7m6odtqhjuqhpevyku`."""
    return f"{prefix}_{base64.b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


def is_identifier(text: str) -> bool:
    """Whether `text` could be one of our names; what could not is unknown, and never reaches the database."""
    return _FORM.match(text) is not None
