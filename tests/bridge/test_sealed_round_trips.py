"""Whatever can be sealed opens again, whole, and only with its own key and its own place."""

import json
import string
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc.jwk import OKPKey

from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.sealed import (
    CannotOpen,
    ExportContent,
    ExportHeader,
    KeyRefused,
    Refused,
    SegmentHeader,
    Source,
    VaultKey,
    check_connector_key,
    check_private_key,
    generate_connector_key,
    generate_recovery_code,
    generate_vault_key,
    open_export,
    open_export_where,
    open_segment,
    open_segment_where,
    pick,
    public_half,
    read_recovery_code,
    seal_export,
    seal_segment,
    thumbprint,
    unwrap,
    wrap,
)
from tests.bridge.handmade import EXPORT_MEMBERS, SEGMENT_MEMBERS, hand_sealed, with_header
from tests.bridge.handmade import KEY as HAND_KEY

KEYS = {curve: generate_connector_key(curve) for curve in ("X25519", "P-256")}
names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4))
ids = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=40)
revisions = st.integers(1, 2**53 - 1)
headers = st.builds(
    SegmentHeader,
    kid=ids.map("vk_{}".format),
    sub=ids,
    domain=names,
    segment_id=names,
    content_revision=revisions,
)
HEADER_MEMBERS = [
    *SEGMENT_MEMBERS,
    *EXPORT_MEMBERS,
    *("epk", "kind", "p2s", "p2c", "salt", "zip", "crit"),
]
relaxed = settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(values=st.dictionaries(names, values, max_size=6), key=st.binary(min_size=32, max_size=32), header=headers)
def test_segment_comes_back_as_it_was(values, key, header):
    assert open_segment(seal_segment(values, key, header), key, header) == values


@relaxed
@given(
    curve=st.sampled_from(sorted(KEYS)),
    attributes=st.dictionaries(st.tuples(names, names, names), values, min_size=1, max_size=6),
    revision=revisions,
    digest=st.binary(min_size=32, max_size=32),
)
def test_export_comes_back_as_it_was(curve, attributes, revision, digest):
    segments = {}
    for (domain, segment, name), value in attributes.items():
        segments.setdefault((domain, segment), {})[name] = value
    paths = tuple(".".join(path) for path in attributes)
    content = ExportContent(
        scope="pkm.read",
        approved_attributes=(*paths, "absent.from.vault"),
        data=pick(segments, paths),
        sources=tuple(Source(domain, segment, revision) for domain, segment in segments),
        sealed_at="2026-11-20T10:00:00Z",
    )
    header = ExportHeader(
        "k-1", "https://c.example", "usr_a", "app_a", "req_a", "pkm.read", revision, encode_base64url(digest)
    )

    opened = open_export(seal_export(content, public_half(KEYS[curve]), header), KEYS[curve], header)

    assert opened == replace(content, sources=tuple(Source(one.domain, one.segment_id) for one in content.sources))


@relaxed
@given(secret=st.binary(min_size=32, max_size=32), output=st.binary(min_size=32, max_size=32), user=ids)
def test_vault_key_comes_back_from_its_code_and_its_passkey(secret, output, user):
    key, code = VaultKey("vk_a", secret), generate_recovery_code()

    assert unwrap(wrap(key, "recovery", code, user), "recovery", f" {code.lower()} ", user_id=user) == key
    assert unwrap(wrap(key, "passkey", output.hex(), user), "passkey", output.hex(), user_id=user) == key


@settings(max_examples=5, deadline=None, database=None)
@given(passphrase=st.text(min_size=12, max_size=40).filter(lambda text: len(text.strip()) >= 12))
def test_vault_key_comes_back_from_its_passphrase(passphrase):
    if len(unicodedata.normalize("NFKC", passphrase)) < 12:
        return
    key = generate_vault_key()

    assert unwrap(wrap(key, "passphrase", passphrase, "usr_a", p2c=210_000), "passphrase", passphrase) == key


@relaxed
@given(position=st.integers(0, 10_000), letter=st.sampled_from(string.ascii_letters + string.digits + "-_."))
def test_segment_with_one_letter_changed_never_opens(position, letter):
    key = b"k" * 32
    header = SegmentHeader("vk_a", "usr_a", "lifestyle", "food", 1)
    sealed = seal_segment({"coffee_or_tea": "tea"}, key, header)
    position %= len(sealed)
    if sealed[position] == letter:
        return

    with pytest.raises(Refused):
        open_segment(sealed[:position] + letter + sealed[position + 1 :], key, header)


@relaxed
@given(length=st.integers(0, 2000))
def test_truncated_segment_never_opens(length):
    key = b"k" * 32
    header = SegmentHeader("vk_a", "usr_a", "lifestyle", "food", 1)
    sealed = seal_segment({"coffee_or_tea": "tea"}, key, header)

    with pytest.raises(Refused):
        open_segment(sealed[: length % len(sealed)], key, header)


@relaxed
@given(text=st.text(max_size=200) | st.text(".eyJ0-_", max_size=200))
def test_garbage_never_opens(text):
    with pytest.raises(Refused):
        open_segment(text, b"k" * 32, SegmentHeader("vk_a", "usr_a", "lifestyle", "food", 1))


def test_segment_sealed_twice_is_never_the_same_text():
    header = SegmentHeader("vk_a", "usr_a", "lifestyle", "food", 1)
    parts = zip(*(seal_segment({"a": 1}, b"k" * 32, header).split(".") for _ in range(2)), strict=True)

    assert [first == second for first, second in parts] == [True, False, False, False, False]


def test_segment_does_not_open_with_another_key():
    header = SegmentHeader("vk_a", "usr_a", "lifestyle", "food", 1)

    with pytest.raises(CannotOpen):
        open_segment(seal_segment({"a": 1}, b"k" * 32, header), b"l" * 32, header)


@relaxed
@given(data=st.binary(max_size=200))
def test_base64url_comes_back_and_has_one_spelling(data):
    text = encode_base64url(data)

    assert decode_base64url(text, "it") == data
    for other in (text + "=", " " + text, text + "\n", text + "+"):
        with pytest.raises(Refused):
            decode_base64url(other, "it")


@pytest.mark.parametrize("text", ["QR", "QUJ", "QUJDR", "QUJDRB", "é", "Q Q"])
def test_base64url_in_another_spelling_is_refused(text):
    with pytest.raises(Refused):
        decode_base64url(text, "it")


@pytest.mark.parametrize("curve", sorted(KEYS))
def test_generated_key_is_accepted_and_named(curve):
    public = public_half(KEYS[curve])

    assert check_connector_key(public) == public
    assert len(decode_base64url(thumbprint(public), "thumbprint")) == 32


def test_recovery_code_is_160_bits_in_groups_of_four():
    code = generate_recovery_code()

    assert [len(group) for group in code.split("-")] == [4] * 8
    assert len(read_recovery_code(code)) == 20


@relaxed
@given(
    kind=st.sampled_from(["export", "segment", "passphrase", "recovery"]),
    changes=st.dictionaries(
        st.sampled_from(HEADER_MEMBERS) | names,
        values | st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "d"]), values, max_size=5),
        min_size=1,
        max_size=4,
    ),
)
def test_header_of_any_shape_is_refused_and_never_an_accident(vectors, vault_key, kind, changes):
    sealed = {
        "export": vectors["exports"][0]["jwe"],
        "segment": vectors["segments"][0]["jwe"],
        "passphrase": vectors["wrappers"]["passphrase"]["jwe"],
        "recovery": vectors["wrappers"]["recovery"]["jwe"],
    }[kind]
    sealed = with_header(sealed, lambda header: header.update(changes))

    with pytest.raises(Refused):
        open_any(kind, sealed, vectors, vault_key)


def open_any(kind, sealed, vectors, vault_key):
    if kind == "export":
        return open_export_where(sealed, vectors["exports"][0]["connector_private_key"], lambda header: None)
    if kind == "segment":
        return open_segment_where(sealed, vault_key, lambda header: None)
    return unwrap(sealed, kind, "not the secret" if kind == "passphrase" else vectors["wrappers"][kind]["code"])


@relaxed
@given(content=values)
def test_content_of_any_shape_is_refused_and_never_an_accident(content):
    jose = OKPKey.import_key(public_half(HAND_KEY))
    sealed = hand_sealed(EXPORT_MEMBERS, jose, json.dumps(content).encode())

    with pytest.raises(Refused):
        open_export_where(sealed, HAND_KEY, lambda header: None)


@relaxed
@given(jwk=st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "d", "kid"]), values | st.just("OKP"), max_size=6))
def test_key_of_any_shape_is_refused_and_never_an_accident(jwk):
    for check in (check_connector_key, check_private_key):
        with pytest.raises(KeyRefused):
            check({"kty": "OKP", "crv": "X25519", **jwk})
