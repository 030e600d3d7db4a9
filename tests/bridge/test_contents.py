"""The content of what was sealed: its own rules, its sizes, and the digest of the request."""

import json

import pytest

from consent_bridge.encoding import decode_base64url
from consent_bridge.exports import check_content
from consent_bridge.sealed import (
    ExportContent,
    Refused,
    generate_connector_key,
    open_export,
    origin_of,
    public_half,
    request_digest,
    seal_export,
    seal_segment,
)
from tests.bridge.handmade import (
    CONTENT,
    EXPORT,
    KEY,
    SEGMENT,
    VAULT,
    content_of,
)
from tests.bridge.refusals import refused_for


def test_export_is_not_sealed_with_more_than_was_approved():
    content = ExportContent(**{**vars(CONTENT), "approved_attributes": ("lifestyle.food.diet_preference",)})

    with pytest.raises(Refused, match="was not approved"):
        seal_export(content, public_half(KEY), EXPORT)


def test_time_of_sealing_is_written_in_the_digits_of_ascii():
    content = CONTENT.as_json()
    check_content(content, CONTENT.scope)
    with refused_for("sealed_at"):
        check_content({**content, "sealed_at": "\u0662026-11-20T10:00:00Z"}, CONTENT.scope)


def test_content_that_json_cannot_hold_is_not_sealed():
    for value in (float("nan"), b"bytes", "\ud800"):
        with pytest.raises(Refused, match="cannot be written as JSON"):
            seal_segment({"a": value}, VAULT.secret, SEGMENT)


@pytest.mark.parametrize("curve", ["X25519", "P-256"])
def test_export_of_16_mib_opens_and_a_larger_one_is_not_sealed(curve):
    key = generate_connector_key(curve)
    overhead = len(json.dumps({**content_of("").as_json(), "pad": ""}, separators=(",", ":")))
    largest = content_of("x" * (16 * 1024 * 1024 - overhead))

    assert open_export(seal_export(largest, public_half(key), EXPORT), key, EXPORT) == largest
    with pytest.raises(Refused, match="larger than 16777216 bytes"):
        seal_export(content_of("x" * (16 * 1024 * 1024 - overhead + 1)), public_half(key), EXPORT)


def test_every_export_is_as_long_as_others_that_say_something_else():
    lengths = {
        len(
            decode_base64url(
                seal_export(content_of("x" * count), public_half(KEY), EXPORT).split(".")[3], "the ciphertext"
            )
        )
        % 256
        for count in range(260)
    }
    assert lengths == {0}


def test_request_that_has_no_canonical_form_has_no_digest(vectors):
    request = vectors["exports"][0]["request"]

    with pytest.raises(Refused, match="no canonical form"):
        request_digest({**request, "max_reads": 2**60})


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://localhost:8000", "http://localhost:8000"),
        ("https://Consent.Example/app/", "https://consent.example"),
        ("https://consent.example:443", "https://consent.example"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
    ],
)
def test_origin_is_scheme_host_and_port(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize("url", ["", "consent.example", "ftp://a.example", "http://", "http://a:b"])
def test_origin_of_what_is_no_address_is_refused(url):
    with pytest.raises(Refused):
        origin_of(url)
