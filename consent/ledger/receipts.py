"""Signed receipts, with the members of ISO/IEC TS 27560. They hold no value of anybody."""

import hashlib
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.conf import settings
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from common.identifiers import new_identifier
from common.jose import ALG, EDDSA, base64url
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import RECEIPT_TYPE, Receipt
from consent.shapes import ConsentKeys


@cache
def signing_keys() -> list[OKPKey]:
    """The receipt keys, newest first: the first signs, all of them verify."""
    keys = []
    for material in settings.RECEIPT_KEYS:
        key = OKPKey.import_key({name: material[name] for name in ("kty", "crv", "x", "d") if name in material})
        keys.append(OKPKey.import_key({**key.as_dict(private=True), "kid": key.thumbprint()}))
    return keys


def public_keys() -> ConsentKeys:
    """The JWKS that verifies every receipt, old keys kept."""
    return {
        "keys": [
            {**key.as_dict(private=False), "kid": key.thumbprint(), "use": "sig", "alg": "EdDSA"}
            for key in signing_keys()
        ]
    }


def sign(claims: dict[str, Any], kind: str) -> str:
    """`claims` as a compact JWS of this type."""
    key = signing_keys()[0]
    header = {"alg": "EdDSA", "typ": kind, "kid": key.thumbprint()}
    return jws.serialize_compact(header, orjson.dumps(claims), key, registry=EDDSA)


def claims_of(payload: bytes) -> dict[str, Any]:
    """The claims of a JWS whose signature was checked."""
    claims: dict[str, Any] = orjson.loads(payload)
    return claims


def signed(
    *,
    claims: dict[str, Any],
    request_pk: int,
    entry: dict[str, Any],
    at: datetime,
    app_entry: dict[str, Any] | None = None,
) -> Receipt:
    """The receipt that says `claims`, signed at `at` and not saved yet: the person's copy, and the app's.

    `entry` is where it stands in the person's chain: {"chain", "sequence", "entry_hash"}, and `app_entry` where in the
    app's own, so that an app learns nothing of what the person does elsewhere. Where that is not written yet, the app's
    copy holds the hash of the person's whole copy instead, whose signature is the salt.
    """
    key = signing_keys()[0]
    shared = {name: value for name, value in claims.items() if name != "audit"}
    made = Receipt(
        receipt_id=claims["receipt_id"],
        request_id=request_pk,
        event=claims["event"]["type"],
        kid=key.thumbprint(),
        claims=_text(shared),
        audit=_text(entry),
        created_at=at,
    )
    made.signature = _signature(made.signing_input(made.audit), key)
    salted = hashlib.sha256(made.jws.encode()).digest()
    made.app_audit = _text(app_entry or {"entry_hash": base64url(salted)})
    made.app_signature = _signature(made.signing_input(made.app_audit), key)
    return made


def _text(claims: dict[str, Any]) -> str:
    return orjson.dumps(claims).decode()


def _signature(signing_input: str, key: OKPKey) -> str:
    signed = EDDSA.get_alg(ALG).sign(signing_input.encode(), key)
    return base64url(signed)


def verified(token: str) -> dict[str, Any] | None:
    """The claims of a receipt that one of our keys signed; None of any other text."""
    try:
        found = jws.extract_compact(token.encode())
        keys = [key for key in signing_keys() if key.thumbprint() == found.headers().get("kid")]
        if (
            not keys
            or found.headers().get("typ") != RECEIPT_TYPE
            or not jws.validate_compact(found, keys[0], registry=EDDSA)
        ):
            return None
        return claims_of(found.payload)
    except (JoseError, ValueError):
        return None


def digest_of(claims: dict[str, Any]) -> str:
    """The hash by which an entry holds its receipt: of the claims without `audit`, the same for both copies."""
    return sha256_canonical({name: value for name, value in claims.items() if name != "audit"})


def new_receipt_id() -> str:
    return new_identifier("rct")
