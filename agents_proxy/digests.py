"""Keyed digests of what is too easily guessed for a plain one: phone numbers, codes, messages."""

import hashlib
import hmac

from django.conf import settings


def digest(*parts: str) -> str:
    """What is kept of these texts, under the newest of the server's keys."""
    return _digest(settings.DATA_ENCRYPTION_KEYS[0], parts)


def digests(*parts: str) -> list[str]:
    """What may have been kept of these texts, under any of the server's keys, the newest first."""
    return [_digest(key, parts) for key in settings.DATA_ENCRYPTION_KEYS]


def is_digest(kept: str, *parts: str) -> bool:
    """Whether `kept` is of these texts, compared in constant time."""
    return any(hmac.compare_digest(kept, candidate) for candidate in digests(*parts))


def _digest(key: str, parts: tuple[str, ...]) -> str:
    # a key of its own purpose, so that nothing here says anything about what is encrypted under the same secret
    own = hashlib.sha256(b"agents_proxy digests " + key.encode()).digest()
    written = b"".join(len(part.encode()).to_bytes(8, "big") + part.encode() for part in parts)
    return hmac.new(own, written, hashlib.sha256).hexdigest()
