"""The server's own layer of encryption at rest, so that a copied database alone gives nobody anything to guess at."""

import base64
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class DecryptionFailed(Exception):
    """Sealed under a key that this server does not have."""


def sealed(text: str, *, purpose: str = "") -> str:
    """`text` encrypted under the newest server key.

    With a `purpose`, under a key derived for it: what is believed because this server sealed it names one, so that no
    text of somebody else's, sealed here for another reason, can be moved to its place.
    """
    return _keys(tuple(settings.DATA_ENCRYPTION_KEYS), purpose).encrypt(text.encode()).decode()


def opened(sealed_text: str, *, purpose: str = "") -> str:
    """What `sealed` was given, for the same purpose, under whichever of the server's keys; else `DecryptionFailed`."""
    try:
        return _keys(tuple(settings.DATA_ENCRYPTION_KEYS), purpose).decrypt(sealed_text.encode()).decode()
    except InvalidToken as error:
        raise DecryptionFailed("None of DATA_ENCRYPTION_KEYS opens this: it was written under another.") from error


def resealed(sealed_text: str) -> str:
    """The same under the newest server key, whichever it was sealed under; else `DecryptionFailed`."""
    return sealed(opened(sealed_text))


@lru_cache(maxsize=8)
def _keys(keys: tuple[str, ...], purpose: str) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key, purpose) if purpose else key) for key in keys])


def _derived(key: str, purpose: str) -> bytes:
    return base64.urlsafe_b64encode(hmac.digest(base64.urlsafe_b64decode(key), purpose.encode(), "sha256"))
