"""What an independent implementation sealed has to open here, and what it broke has to be refused for that reason."""

import re

import pytest

from consent_bridge.sealed import (
    CannotOpen,
    KeyRefused,
    Refused,
    SegmentHeader,
    VaultKey,
    check_connector_key,
    open_export,
    open_segment,
    public_half,
    request_digest,
    thumbprint,
    unwrap,
)
from tests.bridge.refusals import refused_for

REJECTED = {
    "export part 1 has one bit flipped": (CannotOpen, None, "does not open"),
    "export part 2 has one bit flipped": (CannotOpen, None, "does not open"),
    "export part 3 has one bit flipped": (CannotOpen, None, "does not open"),
    "export part 4 has one bit flipped": (CannotOpen, None, "does not open"),
    "export header names another app": (Refused, "aud", 'aud is "app_other"'),
    "export header names another revision": (Refused, "revision", "revision is 2, not 1"),
    "segment header names another segment": (Refused, "segment_id", 'segment_id is "fitness", not "food"'),
    "segment is an older revision than was asked for": (Refused, "content_revision", "content_revision is 1, not 2"),
    "segment is sealed under another vault key": (CannotOpen, None, "does not open"),
    "algorithm is not on the list (dir)": (Refused, "alg", 'alg "dir" is not on the list'),
    "passphrase wrapper asks for too few iterations": (Refused, "p2c", "p2c is 1000, not within 210000 to 1000000"),
}

BAD_KEYS = {
    "all-zero X25519 point": ("x", "low-order point"),
    "low-order X25519 point of order 8": ("x", "low-order point"),
    "31 bytes": ("x", "x has 31 bytes, not 32"),
    "private member present": ("d", "private member"),
    "Ed25519 is a signing curve": ("crv", 'crv "Ed25519"'),
    "P-256 point off the curve": ("x", "not on the curve"),
    "standard base64 with padding": ("x", "not base64url without padding"),
    "RSA": ("kty", 'kty "RSA"'),
}


@pytest.mark.parametrize(
    ("kind", "secret"), [("passphrase", "passphrase"), ("recovery", "code"), ("passkey", "prf_output_hex")]
)
def test_wrapper_opens(vectors, vault_key, kind, secret):
    wrapper = vectors["wrappers"][kind]

    key = unwrap(
        wrapper["jwe"],
        kind,
        wrapper[secret],
        user_id=vectors["user_id"],
        key_id=vectors["vault"]["key_id"],
    )

    assert key == VaultKey(key_id=vectors["vault"]["key_id"], secret=vault_key)


@pytest.mark.parametrize("index", range(4))
def test_segment_opens(vectors, vault_key, index):
    segment = vectors["segments"][index]

    assert open_segment(segment["jwe"], vault_key, segment_header(vectors, segment)) == segment["plaintext"]


@pytest.mark.parametrize("index", range(2))
def test_export_opens(vectors, export_headers, index):
    export = vectors["exports"][index]

    content = open_export(export["jwe"], export["connector_private_key"], export_headers[index])

    assert content.as_json() == export["plaintext"]


@pytest.mark.parametrize("index", range(2))
def test_digest_and_thumbprint_are_the_same_here(vectors, index):
    export = vectors["exports"][index]

    assert request_digest(export["request"]) == export["request_digest"]
    assert thumbprint(export["connector_private_key"]) == export["thumbprint"]
    assert check_connector_key(export["connector_public_key"]) == export["connector_public_key"]
    assert public_half(export["connector_private_key"]) == export["connector_public_key"]


def test_every_vector_is_tested(vectors):
    assert {reject["why"] for reject in vectors["rejects"]} == REJECTED.keys()
    assert {bad["why"] for bad in vectors["bad_connector_keys"]} == BAD_KEYS.keys()
    assert (len(vectors["segments"]), len(vectors["exports"]), len(vectors["wrappers"])) == (4, 2, 3)


@pytest.mark.parametrize("why", REJECTED)
def test_reject_is_refused_for_its_reason(vectors, vault_key, export_headers, why):
    reject = next(item for item in vectors["rejects"] if item["why"] == why)
    kind, member, reason = REJECTED[why]

    with pytest.raises(Refused) as caught:
        open_reject(vectors, vault_key, export_headers, reject)

    assert (type(caught.value), caught.value.member) == (kind, member)
    assert reason in str(caught.value)


@pytest.mark.parametrize("why", BAD_KEYS)
def test_bad_connector_key_is_refused_for_its_reason(vectors, why):
    bad = next(item for item in vectors["bad_connector_keys"] if item["why"] == why)
    member, reason = BAD_KEYS[why]

    with refused_for(member, KeyRefused, match=re.escape(reason)):
        check_connector_key(bad["jwk"])


def segment_header(vectors, segment, **changes):
    values = {
        "kid": vectors["vault"]["key_id"],
        "sub": vectors["user_id"],
        "domain": segment["domain"],
        "segment_id": segment["segment_id"],
        "content_revision": segment["content_revision"],
    }
    return SegmentHeader(**{**values, **changes})


def open_reject(vectors, vault_key, export_headers, reject):
    if reject["kind"] == "export":
        return open_export(reject["jwe"], vectors["exports"][0]["connector_private_key"], export_headers[0])
    if reject["kind"] == "segment":
        asked = segment_header(vectors, vectors["segments"][0], content_revision=reject.get("expected_revision", 1))
        return open_segment(reject["jwe"], vault_key, asked)
    return unwrap(reject["jwe"], "passphrase", vectors["wrappers"]["passphrase"]["passphrase"])
