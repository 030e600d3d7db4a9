"""Tokens: `cr_<kind>_<8>_<43>`, shown once, kept as a SHA-256 digest (pure but for the mint).

The kind is `live` or `test`, the mode of the app, `mgmt` for a person's own management token, or what a host was given:
`oauth`, `refresh` or `code`.
"""

import re
import secrets
import string
from datetime import timedelta

from common.identifiers import secret_digest

_FORM = re.compile(r"cr_(live|test)_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})\Z")
_HOST_FORM = re.compile(r"cr_(oauth|refresh|code)_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})\Z")
_MANAGEMENT_FORM = re.compile(r"cr_mgmt_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})\Z")
_ALPHABET = string.ascii_letters + string.digits

DEFAULT_LIFETIME = timedelta(days=90)
LONGEST_LIFETIME = timedelta(days=365)


LONGEST_MANAGEMENT_LIFETIME = timedelta(days=90)


def new_prefix() -> str:
    """What a token is known by, and no secret."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def new_token(kind: str = "live", prefix: str = "") -> tuple[str, str, str]:
    """A fresh token, its prefix (a new one, unless given) and its digest. The secret part holds 256 random bits."""
    prefix = prefix or new_prefix()
    token = f"cr_{kind}_{prefix}_{secrets.token_urlsafe(32)}"
    return token, prefix, secret_digest(token)


def has_form(token: str) -> bool:
    return _FORM.match(token) is not None


def has_management_form(token: str) -> bool:
    return _MANAGEMENT_FORM.match(token) is not None


def host_kind(token: str) -> str:
    """`oauth`, `refresh` or `code`, where this could be what a host was given; "" for anything else."""
    found = _HOST_FORM.match(token)
    return found[1] if found else ""
