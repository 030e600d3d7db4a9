"""The server's own layer of encryption at rest, so that a copied database alone gives nobody anything to guess at."""

from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """Sealed under a key that this server does not have."""


def sealed(text: str) -> str:
    """`text` encrypted under the newest server key."""
    return _keys(tuple(settings.DATA_ENCRYPTION_KEYS)).encrypt(text.encode()).decode()


def opened(token: str) -> str:
    """What `sealed` was given, under whichever of the server's keys it was sealed; else `Unreadable`."""
    try:
        return _keys(tuple(settings.DATA_ENCRYPTION_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise Unreadable("None of DATA_ENCRYPTION_KEYS opens this; the database was written under another.") from error


def resealed(token: str) -> str:
    """The same under the newest server key, whichever it was sealed under; else `Unreadable`."""
    return sealed(opened(token))


@lru_cache(maxsize=4)
def _keys(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
