"""The content of what was sealed: its own rules, its sizes, and the digest of the request."""

import json

import pytest
from joserfc.jwk import OctKey

from consent_bridge.sealed import (
    ExportContent,
    Refused,
    generate_connector_key,
    open_export,
    open_segment,
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
    SEGMENT_MEMBERS,
    VAULT,
    content_of,
    hand_sealed,
    hand_sealed_export,
)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scope": "attr.contact.*"}, "scope"),
        ({"data": {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}}, "favorite_cuisine.*was not approved"),
        ({"data": {"contact": {"email": {"email": "a@b.c"}}}}, "contact.*was not approved"),
        ({"data": {"lifestyle.food.coffee_or_tea": "tea"}}, "was not approved"),
        ({"data": {"lifestyle": {"food.coffee_or_tea": "tea"}}}, "was not approved"),
        ({"data": {"lifestyle": {"fitness": {}}}}, "was not approved"),
        ({"data": {"lifestyle": {"food": "tea"}}}, "is not an object"),
        ({"data": []}, "data is not an object"),
        ({"approved_attributes": "lifestyle.food.coffee_or_tea"}, "not a list of paths"),
        ({"approved_attributes": [7]}, "not a list of paths"),
        ({"approved_attributes": ["lifestyle.food.coffee_or_tea"] * 2}, "twice"),
        ({"sealed_at": "yesterday"}, "sealed_at"),
        ({"sealed_at": "2026-11-20T10:00:00+01:00"}, "sealed_at"),
        ({"sources": {}}, "sources is not a list"),
        ({"sources": [{"domain": "lifestyle"}]}, "a source is not"),
        ({"sources": [{"domain": "a", "segment_id": "b", "size": 1}]}, "a source is not"),
        ({"sources": [{"domain": "a", "segment_id": "b", "content_revision": 0}]}, "content_revision"),
        ({"sources": [{"domain": "a", "segment_id": 1, "content_revision": 1}]}, "not text"),
        ({"extra": 1}, "unknown member"),
    ],
)
def test_export_whose_content_breaks_its_rules_is_refused(change, reason):
    sealed = hand_sealed_export({**CONTENT.as_json(), **change})

    with pytest.raises(Refused, match=reason):
        open_export(sealed, KEY, EXPORT)


@pytest.mark.parametrize("member", CONTENT.as_json())
def test_export_whose_content_lacks_a_member_is_refused(member):
    content = CONTENT.as_json()
    del content[member]

    with pytest.raises(Refused, match=f"the content has no {member}"):
        open_export(hand_sealed_export(content), KEY, EXPORT)


@pytest.mark.parametrize(
    "plaintext",
    [b"", b"[]", b"\xff", b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":1e999}', b"[" * 100_000, b'{"a":"\\ud800"}'],
)
def test_content_that_is_no_strict_json_is_refused(plaintext):
    sealed = hand_sealed(SEGMENT_MEMBERS, OctKey.import_key(VAULT.secret), plaintext)

    with pytest.raises(Refused, match="the segment's content"):
        open_segment(sealed, VAULT.secret, SEGMENT)


def test_export_is_not_sealed_with_more_than_was_approved():
    content = ExportContent(**{**vars(CONTENT), "approved_attributes": ("lifestyle.food.diet_preference",)})

    with pytest.raises(Refused, match="was not approved"):
        seal_export(content, public_half(KEY), EXPORT)


def test_content_that_json_cannot_hold_is_not_sealed():
    for value in (float("nan"), b"bytes", "\ud800"):
        with pytest.raises(Refused, match="cannot be written as JSON"):
            seal_segment({"a": value}, VAULT.secret, SEGMENT)


@pytest.mark.parametrize("curve", ["X25519", "P-256"])
def test_export_of_16_mib_opens_and_a_larger_one_is_not_sealed(curve):
    key = generate_connector_key(curve)
    overhead = len(json.dumps(content_of("").as_json(), separators=(",", ":")))
    largest = content_of("x" * (16 * 1024 * 1024 - overhead))

    assert open_export(seal_export(largest, public_half(key), EXPORT), key, EXPORT) == largest
    with pytest.raises(Refused, match="larger than 16777216 bytes"):
        seal_export(content_of("x" * (16 * 1024 * 1024 - overhead + 1)), public_half(key), EXPORT)


def test_digest_wants_exactly_its_members(vectors):
    request = vectors["exports"][0]["request"]

    with pytest.raises(Refused, match="the request has no purpose"):
        request_digest({name: value for name, value in request.items() if name != "purpose"})
    with pytest.raises(Refused, match="unknown member"):
        request_digest({**request, "color": "red"})
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
