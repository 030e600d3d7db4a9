"""How a sharing ID looks, and what is kept of it (pure)."""

import hashlib
from datetime import timedelta

from common.identifiers import new_identifier

_PREFIX = "sh"
LASTS = timedelta(days=7)


def new_sharing_id() -> str:
    """For example `sh_t2zp3gog7m6odtqhjuqhpevyku`."""
    return new_identifier(_PREFIX)


def is_sharing_id(name: str) -> bool:
    """Whether this could be one, and nothing else."""
    return name.startswith(f"{_PREFIX}_")


def digest_of(sharing_id: str) -> str:
    """What it is found by: SHA-256, hexadecimal. 128 random bits need no salt."""
    return hashlib.sha256(sharing_id.encode()).hexdigest()
