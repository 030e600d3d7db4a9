"""Whose log this is: its origin, the keys that sign it, and the witnesses that cosign it."""

from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from joserfc.jwk import OKPKey

from consent.log import notes


def origin(epoch: str = "") -> str:
    """The log's name: the issuer without its scheme, with its port, and /log; LOG_ORIGIN where that is another one."""
    name = settings.LOG_ORIGIN or f"{settings.ISSUER.partition('://')[2]}/log"
    return f"{name}/{epoch}" if epoch else name


@cache
def signing_keys() -> list[Ed25519PrivateKey]:
    """The log's keys, newest first; every one signs, so that readers who know an older key can follow."""
    keys = [OKPKey.import_key({**material}).private_key for material in settings.LOG_KEYS]
    if not all(isinstance(key, Ed25519PrivateKey) for key in keys):
        raise ValueError("a key of the log is not a private Ed25519 key")
    return [key for key in keys if isinstance(key, Ed25519PrivateKey)]


def verifier_keys(epoch: str = "") -> list[notes.VerifierKey]:
    """What verifies our checkpoints, newest first; a process without the private keys has them from its settings."""
    if settings.LOG_KEYS:
        return [notes.log_key(origin(epoch), key.public_key()) for key in signing_keys()]
    own = [notes.VerifierKey.parse(text, kind=notes.ED25519) for text in settings.LOG_VERIFIER_KEYS]
    return [notes.VerifierKey(origin(epoch), key.kind, key.public) for key in own]


@dataclass(frozen=True)
class Witness:
    """Somebody who cosigns, and where to ask them; one that is `retiring` is asked, and counted no more."""

    key: notes.VerifierKey
    url: str
    retiring: bool = False


def witnesses() -> list[Witness]:
    """Those of LOG_WITNESSES, the leaving ones too."""
    return [_witness(key, url) for key, url in settings.LOG_WITNESSES]


def _witness(text: str, url: str) -> Witness:
    key = notes.VerifierKey.parse(text.removeprefix("-"), kind=notes.COSIGNATURE)
    return Witness(key, url, retiring=text.startswith("-"))


def counted_witnesses() -> list[notes.VerifierKey]:
    """Those whose cosignatures count."""
    return [witness.key for witness in witnesses() if not witness.retiring]


def quorum() -> int:
    """How many of these must cosign."""
    count = len(counted_witnesses())
    return count if settings.LOG_WITNESS_QUORUM is None else min(count, settings.LOG_WITNESS_QUORUM)
