"""Connector keys: that both halves of a private one are there, and belong together."""

import pytest

from consent_bridge.calls import request_along
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


@pytest.mark.parametrize(("jwk", "member"), [(None, None), ({}, "kty")])
def test_what_is_no_key_at_all_is_refused(jwk, member):
    with refused_for(member, KeyRefused):
        check_connector_key(jwk)


def test_private_key_loses_what_does_not_count():
    assert check_private_key({"key_ops": ["deriveBits"], "ext": True, **KEY}) == KEY


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


@pytest.mark.parametrize("secret", [{"kty": "oct", "k": "c2VjcmV0"}, {**public_half(KEY), "k": "c2VjcmV0"}])
def test_what_is_no_public_key_is_not_sent_under_a_name_of_its_own(secret):
    with pytest.raises(KeyRefused):
        request_along("attr.lifestyle.food.*", purpose="Suggest food", key=secret, connector_key_id="k1")
