"""Sealed objects made by hand, as a stranger might make them."""

import json
from dataclasses import replace

from joserfc.jwe import JWERegistry, encrypt_compact
from joserfc.jwk import ECKey, OctKey, OKPKey

from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.sealed import (
    ExportContent,
    SegmentHeader,
    Source,
    generate_connector_key,
    generate_vault_key,
    public_half,
)
from tests.bridge.wire import HEADER

VAULT = generate_vault_key()
KEY = generate_connector_key()
DIGEST = encode_base64url(bytes(range(32)))
SEGMENT = SegmentHeader(kid=VAULT.key_id, sub="usr_a", domain="lifestyle", segment_id="food", content_revision=3)
EXPORT = replace(HEADER, kid="connector-1", revision=2, request_digest=DIGEST)
CONTENT = ExportContent(
    scope="attr.lifestyle.food.*",
    approved_attributes=("lifestyle.food.coffee_or_tea", "lifestyle.food.diet_preference"),
    data={"lifestyle": {"food": {"coffee_or_tea": "tea"}}},
    sources=(Source("lifestyle", "food"),),
    sealed_at="2026-11-20T10:00:00Z",
)
SEGMENT_MEMBERS = {"alg": "A256KW", "enc": "A256GCM", "typ": "pkm-segment+jwe", **vars(SEGMENT)}
EXPORT_MEMBERS = {
    "alg": "ECDH-ES+A256KW",
    "enc": "A256GCM",
    "typ": "consent-export+jwe",
    "cty": "application/json",
    **vars(EXPORT),
}


class Loose(JWERegistry):
    """Seals anything, as a stranger might."""

    max_ciphertext_length = 64 * 1024 * 1024

    def __init__(self):
        super().__init__(strict_check_header=False)

    def check_header(self, header, check_more=False):
        pass


def hand_sealed(header, key, plaintext=b'{"coffee_or_tea":"tea"}'):
    return encrypt_compact(dict(header), plaintext, key, registry=Loose())


def hand_sealed_segment(**changes):
    members = {**SEGMENT_MEMBERS, **changes}
    header = {name: value for name, value in members.items() if value is not None}
    return hand_sealed(header, OctKey.import_key(VAULT.secret))


def hand_sealed_export(plaintext=None, key=KEY, **changes):
    members = {**EXPORT_MEMBERS, **changes}
    header = {name: value for name, value in members.items() if value is not None}
    public = public_half(key)
    jose = OKPKey.import_key(public) if public["kty"] == "OKP" else ECKey.import_key(public)
    return hand_sealed(header, jose, json.dumps(plaintext or CONTENT.as_json()).encode())


def with_header(sealed, change):
    """The same JWE with its header rewritten; it no longer opens, so what is refused is refused before that."""
    parts = sealed.split(".")
    header = json.loads(decode_base64url(parts[0], "header"))
    change(header)
    return ".".join([encode_base64url(json.dumps(header).encode()), *parts[1:]])


def content_of(value):
    return ExportContent(**{**vars(CONTENT), "data": {"lifestyle": {"food": {"coffee_or_tea": value}}}})
