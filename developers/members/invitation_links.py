"""The secrets of invitations' links: 256 random bits, in the mail alone, kept as a SHA-256 digest (pure).

Their form is one that the logs know and redact (config/log_lines.py).
"""

import re
import secrets

_FORM = re.compile(r"inv_[A-Za-z0-9_-]{43}\Z")


def new_secret() -> str:
    return f"inv_{secrets.token_urlsafe(32)}"


def mail_key(invitation_pk: int | str) -> str:
    return f"invitation:{invitation_pk}"


def has_form(secret: str) -> bool:
    """Whether this could be such a secret at all."""
    return _FORM.match(secret) is not None
