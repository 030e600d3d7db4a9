"""Receipts as the service would sign them, by a JOSE library instead of by the code under test."""

import json
import warnings

from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import OctKey, OKPKey

SIGNING_KEY = OKPKey.generate_key("Ed25519")
OTHER_KEY = OKPKey.generate_key("Ed25519")
CLAIMS = {
    "schema_version": "1.1",
    "lawful_basis": "consent",
    "rights": ["withdraw_consent", "access"],
    "notice": {"version": "2026-11", "language": "de"},
    "receipt_id": "rct_a",
    "record_id": "grt_a",
    "pii_controller": {"name": "Table for Two Ltd", "app_id": "app_a", "contact": "a@example.org"},
    "pii_types": ["lifestyle.food.favorite_cuisine"],
    "recipients": "Our kitchen, and nobody else",
    "storage": {"location": "Turku, Finland", "retention": "30 days"},
    "jurisdiction": "Finland",
    "event": {"type": "approved", "state": "active", "time": "2026-11-20T10:05:00Z"},
    "retention": {"access_duration": 86400, "expires_at": None},
    "purpose": "Vorschläge für Lokale",
    "iat": 1795169100,
    "iss": "https://consent.example",
}


def jwks(*keys):
    named = [{**key.as_dict(private=False), "kid": key.thumbprint()} for key in keys or (SIGNING_KEY,)]
    return {"keys": [{**key, "use": "sig", "alg": "EdDSA"} for key in named]}


def signed(claims=None, *, key=SIGNING_KEY, payload=None, **header):
    protected = {"alg": "EdDSA", "typ": "consent-receipt+jwt", "kid": key.thumbprint(), **header}
    protected = {name: value for name, value in protected.items() if value is not None}
    content = json.dumps(CLAIMS if claims is None else claims).encode() if payload is None else payload
    algorithm = protected["alg"]
    if algorithm == "HS256":
        key = OctKey.import_key(b"k" * 32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        return jws.serialize_compact(protected, content, key, registry=registry)
