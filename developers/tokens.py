"""Developer tokens: `cr_live_<8>_<43>`, shown once, kept as a SHA-256 digest (pure but for the mint)."""

import hashlib
import re
import secrets
import string
from datetime import timedelta

_FORM = re.compile(r"cr_live_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})\Z")
_ALPHABET = string.ascii_letters + string.digits

DEFAULT_LIFETIME = timedelta(days=90)
LONGEST_LIFETIME = timedelta(days=365)


def new_token() -> tuple[str, str, str]:
    """A fresh token, its prefix and its digest. The secret part holds 256 random bits."""
    prefix = "".join(secrets.choice(_ALPHABET) for _ in range(8))
    token = f"cr_live_{prefix}_{secrets.token_urlsafe(32)}"
    return token, prefix, digest(token)


def digest(token: str) -> str:
    """What is kept of a token: found by a unique index, so no comparison here depends on its bytes."""
    return hashlib.sha256(token.encode()).hexdigest()


def has_form(token: str) -> bool:
    """Whether this could be a token at all."""
    return _FORM.match(token) is not None
