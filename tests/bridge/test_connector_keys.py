"""Connector keys: what is taken, what is refused, and that both halves belong together."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from consent_bridge.encoding import encode_base64url
from consent_bridge.sealed import (
    KeyRefused,
    check_connector_key,
    check_private_key,
    generate_connector_key,
    open_export,
    public_half,
)
from tests.bridge.handmade import EXPORT, KEY, hand_sealed_export
from tests.bridge.refusals import refused_for


@pytest.mark.parametrize(
    ("jwk", "member"),
    [
        (None, None),
        ([], None),
        ({}, "kty"),
        ({"kty": "OKP", "crv": "X25519"}, "x"),
        ({"kty": "EC", "crv": "X25519", "x": KEY["x"]}, "crv"),
        ({"kty": "OKP", "crv": "P-256", "x": KEY["x"]}, "crv"),
        ({"kty": "EC", "crv": "P-256", "x": KEY["x"]}, "y"),
        ({"kty": "OKP", "crv": "X25519", "x": 7}, "x"),
        ({"kty": "OKP", "crv": "X25519", "x": KEY["x"], "k": "QUJD"}, "k"),
        ({"kty": "OKP", "crv": "X25519", "x": KEY["x"] + "\n"}, "x"),
        ({"kty": ["OKP"], "crv": "X25519", "x": KEY["x"]}, "kty"),
        ({"kty": "oct", "k": "QUJD"}, "kty"),
    ],
)
def test_connector_key_of_another_form_is_refused(jwk, member):
    with refused_for(member, KeyRefused):
        check_connector_key(jwk)


def test_connector_key_loses_what_does_not_count():
    public = public_half(KEY)

    assert check_connector_key({**public, "kid": "a", "use": "enc", "alg": "x", "key_ops": []}) == public
    assert check_connector_key({"key_ops": [], "ext": True, **public, "anything": {"else": 1}}) == public
    assert check_private_key({"key_ops": ["deriveBits"], "ext": True, **KEY}) == KEY


@pytest.mark.parametrize(
    "raw",
    [
        bytes(32),
        bytes([1]) + bytes(31),
        bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        bytes.fromhex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        bytes.fromhex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    ],
)
def test_every_low_order_point_is_refused(raw):
    X25519PublicKey.from_public_bytes(raw)

    with pytest.raises(KeyRefused, match="low-order"):
        check_connector_key({"kty": "OKP", "crv": "X25519", "x": encode_base64url(raw)})


@pytest.mark.parametrize("curve", ["X25519", "P-256"])
def test_private_key_with_another_public_half_is_refused(curve):
    mixed = {**public_half(generate_connector_key(curve)), "d": generate_connector_key(curve)["d"]}

    with pytest.raises(KeyRefused, match="does not belong"):
        check_private_key(mixed)


@pytest.mark.parametrize(
    "d", [7, "", encode_base64url(bytes(32)), encode_base64url(b"\xff" * 32), encode_base64url(bytes(31))]
)
def test_private_key_that_is_none_is_refused(d):
    with pytest.raises(KeyRefused):
        check_private_key({**generate_connector_key("P-256"), "d": d})


def test_private_key_without_its_private_half_is_refused():
    with pytest.raises(KeyRefused, match="it has no d"):
        open_export(hand_sealed_export(), public_half(KEY), EXPORT)
