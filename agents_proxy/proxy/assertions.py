"""What an agent is shown with every call: that the person agreed to it, about whom, for what, and until when.

Signed by keys of their own, made of the server's secrets, so that nothing signed with them is anything else. An
assertion is for one call of one agent: it names the task and the text, and holds for five minutes.
"""

import base64
import hashlib
import hmac
import secrets
import time
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from joserfc import jws
from joserfc.jwk import OKPKey

from agents_proxy.agents import AGENTS, Upstream
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.envelope import Prompt
from agents_proxy.proxy.subjects import Subject

TYPE = "processing-consent+jwt"
HOLDS = 300  # seconds
HEADER = "X-Processing-Consent"


def extension() -> str:
    """What A2A calls it by."""
    return f"{settings.ISSUER}/extensions/consent/v1"


def assertion(agent: str, target: Upstream, prompt: Prompt, about: Subject, consent: ProcessingConsent) -> str:
    """The compact JWS for this one call."""
    audience, now = origin_of(target.url), int(time.time())
    claims = {
        "iss": settings.ISSUER,
        "aud": audience,
        "sub": pairwise(audience, about.person_pk),
        "subject": {
            "emails": [one for one in about.disclosed if "@" in one],
            "phone_numbers": [one for one in about.disclosed if "@" not in one],
        },
        "purposes": [AGENTS[agent].purpose.value],
        "consent_id": consent.consent_id,
        "task": prompt.task_id,
        "text_sha256": _base64url(hashlib.sha256(prompt.text.encode()).digest()),
        "jti": secrets.token_urlsafe(16),
        "iat": now,
        "exp": now + HOLDS,
    }
    key = _keys(tuple(settings.DATA_ENCRYPTION_KEYS))[0]
    header = {"alg": "EdDSA", "typ": TYPE, "kid": key.thumbprint()}
    return jws.serialize_compact(header, orjson.dumps(claims), key, algorithms=["EdDSA"])


def public_keys() -> dict[str, Any]:
    """The JWKS that verifies assertions, the newest key first."""
    keys = _keys(tuple(settings.DATA_ENCRYPTION_KEYS))
    known = {"use": "sig", "alg": "EdDSA"}
    return {"keys": [{**key.as_dict(private=False), "kid": key.thumbprint(), **known} for key in keys]}


def origin_of(url: str) -> str:
    """`https://agents.example:8443` of an agent's configured address."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"


@cache
def _keys(secrets_: tuple[str, ...]) -> list[OKPKey]:
    """One for each of the server's keys, the newest first: where those roll, these do."""
    made = [Ed25519PrivateKey.from_private_bytes(_derived(secret, "signs")) for secret in secrets_]
    return [
        OKPKey.import_key(
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": _base64url(key.public_key().public_bytes_raw()),
                "d": _base64url(key.private_bytes_raw()),
            }
        )
        for key in made
    ]


def pairwise(audience: str, person_pk: int) -> str:
    """A name for a person that this agent, or receiver, alone is told, the same with every call."""
    named = f"{audience} {person_pk}".encode()
    return _base64url(hmac.new(_derived(settings.DATA_ENCRYPTION_KEYS[-1], "names"), named, hashlib.sha256).digest())


def _derived(secret: str, what: str) -> bytes:
    return hmac.new(secret.encode(), f"agents_proxy assertions {what}".encode(), hashlib.sha256).digest()


def _base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")
