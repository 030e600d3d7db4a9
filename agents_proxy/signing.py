"""What this service says to agents and destinations of a person, signed: that they agreed, and what is to be deleted.

Signed by keys of their own, made of the server's secrets, so that nothing signed with them is anything else. Whoever
verifies them looks at `typ` to tell one statement from another.
"""

import hashlib
import hmac
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from joserfc import jws
from joserfc.jwk import OKPKey

from common.jose import base64url

LIFETIME = 300  # seconds


def signed(kind: str, claims: dict[str, Any]) -> str:
    """The compact JWS of these claims, whose `typ` is `kind`, under the newest key."""
    key = own_keys(tuple(settings.DATA_ENCRYPTION_KEYS))[0]
    header = {"alg": "EdDSA", "typ": kind, "kid": key.thumbprint()}
    return jws.serialize_compact(header, orjson.dumps(claims), key, algorithms=["EdDSA"])


def public_keys() -> dict[str, Any]:
    """The JWKS that verifies them, the newest key first."""
    keys = own_keys(tuple(settings.DATA_ENCRYPTION_KEYS))
    known = {"use": "sig", "alg": "EdDSA"}
    return {"keys": [{**key.as_dict(private=False), "kid": key.thumbprint(), **known} for key in keys]}


def origin_of(url: str) -> str:
    """`https://agents.example:8443` of a configured address."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"


def pairwise(audience: str, person_pk: int) -> str:
    """A name for a person that this audience alone is told, always the same."""
    named = f"{audience} {person_pk}".encode()
    return base64url(hmac.new(_derived(settings.DATA_ENCRYPTION_KEYS[-1], "names"), named, hashlib.sha256).digest())


@cache
def own_keys(secrets: tuple[str, ...]) -> list[OKPKey]:
    """One for each of the server's keys, the newest first: where those roll, these do."""
    made = [Ed25519PrivateKey.from_private_bytes(_derived(secret, "signs")) for secret in secrets]
    return [
        OKPKey.import_key(
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": base64url(key.public_key().public_bytes_raw()),
                "d": base64url(key.private_bytes_raw()),
            }
        )
        for key in made
    ]


def _derived(secret: str, what: str) -> bytes:
    return hmac.new(secret.encode(), f"agents_proxy assertions {what}".encode(), hashlib.sha256).digest()
