"""Whether this deployment has keys that work: found out by `manage.py check` and at start, not by the first vault."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

_HINT = "`manage.py make_keys` prints a fresh set; `./run` makes one in var/."


@register()
def check_keys(**_: Any) -> list[CheckMessage]:
    """The keys without which no vault can be made and no decision signed."""
    return [*_encryption(), *_receipts(), *_log()]


def require_keys() -> None:
    """Raise where a server or a worker would start with keys that do not work."""
    for message in check_keys():
        raise ImproperlyConfigured(f"{message.msg} {message.hint} ({message.id})")


def _encryption() -> list[CheckMessage]:
    if not settings.DATA_ENCRYPTION_KEYS:
        return [Error("DATA_ENCRYPTION_KEYS is not set.", hint=_HINT, id="config.E001")]
    for place, key in enumerate(settings.DATA_ENCRYPTION_KEYS, start=1):
        try:
            Fernet(key)
        except ValueError:
            said = f"DATA_ENCRYPTION_KEYS: number {place} is no Fernet key (32 octets in URL-safe base64)."
            return [Error(said, hint=_HINT, id="config.E002")]
    return []


def _log() -> list[CheckMessage]:
    from consent.ledger import receipts
    from consent.log import keys

    try:
        verifiers, own = keys.verifier_keys(), {key.public for key in keys.verifier_keys()}
        witnesses = len(keys.witnesses()) >= keys.quorum()
        receipt_keys = {key.public_key.public_bytes_raw() for key in receipts.signing_keys()}
    except Exception:  # as above
        verifiers, own, witnesses, receipt_keys = [], set(), False, set()
    if not verifiers or not witnesses:
        said = "LOG_KEYS is no list of private Ed25519 keys as JWKs, or LOG_VERIFIER_KEYS or LOG_WITNESSES do not do."
        return [Error(said, hint=_HINT, id="config.E004")]
    if own & receipt_keys:
        return [Error("A key of LOG_KEYS signs receipts too.", hint=_HINT, id="config.E005")]
    return []


def _receipts() -> list[CheckMessage]:
    from consent.ledger import receipts  # has models, and config/wsgi.py imports this module before they can be loaded

    try:
        keys = receipts.signing_keys()
        signs = bool(keys) and all(key.is_private for key in keys)
    except Exception:  # whatever the library raises for what is no key
        signs = False
    if signs:
        return []
    said = "RECEIPT_KEYS is not a list of private Ed25519 keys as JWKs."
    return [Error(said, hint=_HINT, id="config.E003")]
